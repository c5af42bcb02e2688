"""Preferences of judges, and what trec_eval prints for them."""

PREFS = """\
q1 ann 1 a 3.5
q1 ann 1 b 2
q1 ann 1 c 0
q1 ann 1 d 0
q1 ann 1 e 0
q1 bob 1 b 9
q1 bob 1 a 1
q2 ann 1 a 3
q2 ann 1 b 2
q2 ann 2 b 5
q2 ann 2 c 4
q2 ann 2 d 0
q2 ann 3 x 0
q2 bob 1 d 1
q2 bob 1 a 0
q2 bob 2 c 1
q2 bob 2 b 0
q3 ann 1 a 1
"""
RUN = """\
q1 Q0 c 1 5 t
q1 Q0 b 2 4 t
q1 Q0 z 3 4 t
q1 Q0 a 4 4 t
q2 Q0 d 1 3 t
q2 Q0 b 2 2 t
q2 Q0 c 3 2 t
q3 Q0 z 1 1 t
"""
