"""(contract to be written)"""
