"""Reading and embedding on a Ray cluster; the machine that runs the ingestion is the only one that writes.

``cluster_reader.py`` cuts the work into batches and keeps a bounded number of them on the way,
``node_work.py`` is what runs on a node, ``ray_cluster.py`` is the only module that knows Ray, and
``cluster_address.py`` says which cluster is meant.
"""
