"""What does Loci cost beside what people would use instead?

`run.py` starts one worker process per peer, asks all of them the same things over the same files, and writes what
they answer as JSON lines. The report and the charts are made from those lines and from nothing else.
"""
