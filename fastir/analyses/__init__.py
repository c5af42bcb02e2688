"""What is asked of evaluations, a folder for each analysis: siblings, of which few import another."""
