"""The compiled engine. Behind `columns` there are only numbers.

columns  ids, numbers and rows, as kernels read them
join     finds the judged documents of a run
rank     finds their ranks
measure  computes the metrics from ranks and labels, each declared beside its function
threads  shares blocks of queries among threads
config   show_config(): what this installation computes with
"""
