from fastir.engine.measure.cards import Param

IDEAL: Param
