from fastir.measure.cards import Param

IDEAL: Param
