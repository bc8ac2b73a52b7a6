def write_report(results, docs): pass
