"""(contract)"""
