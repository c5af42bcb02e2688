from fastir.cards import Param

IDEAL: Param
