"""C simulation of an emitted project without vendor tools: headers, instrumentation, build, run, report."""
