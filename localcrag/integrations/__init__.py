"""localcrag inside of other libraries: LangChain and LlamaIndex.

Each module needs the library that it is for, which an extra brings (``localcrag[langchain]``,
``localcrag[llamaindex]``), so nothing else in localcrag imports them. They use a
:class:`~localcrag.knowledge_base.KnowledgeBase` as any program does.
"""
