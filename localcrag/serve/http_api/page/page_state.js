// What the page knows: the token, the knowledge base, the conversation, and the question that is running.

export const state = {
  token: "",
  kb: "",
  bases: [],
  status: null,
  thread: "",
  history: [],
  asking: null,
  opener: null,
};
