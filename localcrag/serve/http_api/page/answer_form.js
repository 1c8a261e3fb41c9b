// The form of the answer: one of some words, or a value in the form of a JSON Schema.

import { ProblemError } from "./door_api.js";
import { byId } from "./elements.js";
import { count, fileName, line, sentence } from "./shown_text.js";

const MAX_SCHEMA_CHARACTERS = 65536; // the door takes no more

/** The words of which one is to be the answer. */
function choices() {
  return [...new Set(byId("choices").value.split(",").map((word) => word.trim()).filter(Boolean))];
}

/** The JSON Schema of the answer, null if its form is free. Throws ProblemError for what is none. */
export function answerForm() {
  const text = byId("schema").value.trim();
  if (text) return schemaOf(text);
  const words = choices();
  if (words.length === 1) throw refusal("one word alone is no choice", "give two words or more, with commas between them");
  return words.length ? { enum: words } : null;
}

function schemaOf(text) {
  if (text.length > MAX_SCHEMA_CHARACTERS) throw refusal("the schema is too long", "ask for less at once, with a schema for each part");
  let schema;
  try {
    schema = JSON.parse(text);
  } catch (error) {
    throw refusal(`the schema is no JSON: ${error.message}`, "check it with a JSON editor");
  }
  if (schema === null || typeof schema !== "object" || Array.isArray(schema)) {
    throw refusal("the schema is no JSON object", 'for example {"type": "object", "properties": {"dose": {"type": "string"}}}');
  }
  return schema;
}

const refusal = (detail, hint) => new ProblemError({ detail, hint });

/** The form in some words, for the line that is always seen. */
function words(form) {
  if (!form) return "";
  if (form.enum) return form.enum.map((word) => line(word)).join(" or ");
  const fields = Object.keys(form.properties ?? {}).length;
  return [line(form.title ?? ""), fields ? count(fields, "field") : "a schema"].filter(Boolean).join(", ");
}

/** Show the form that is chosen, or why it is none; returns whether it can be asked with. */
export function showForm() {
  const [said, field] = [byId("form-trouble"), byId(byId("schema").value.trim() ? "schema" : "choices")];
  byId("choices").disabled = Boolean(byId("schema").value.trim());
  for (const id of ["schema", "choices"]) byId(id).removeAttribute("aria-invalid");
  try {
    byId("form-words").textContent = words(answerForm());
    said.textContent = "";
    return true;
  } catch (error) {
    byId("form-words").textContent = "not understood";
    said.textContent = `${sentence(error.problem.detail)} ${sentence(error.problem.hint)}`;
    field.setAttribute("aria-invalid", "true");
    return false;
  }
}

/** Open the disclosure at what is wrong with the form. */
export function openForm() {
  byId("form").open = true;
  byId("form").querySelector("[aria-invalid]")?.focus();
}

async function takeFile(file) {
  if (!file) return;
  if (file.size > 4 * MAX_SCHEMA_CHARACTERS) {
    byId("form-trouble").textContent = `${fileName(file.name)} is too large for a schema. Choose a JSON file.`;
    return;
  }
  byId("schema").value = await file.text();
  showForm();
}

export function watchForm() {
  byId("schema").oninput = showForm;
  byId("choices").oninput = showForm;
  byId("schema-choose").onclick = () => byId("schema-file").click();
  byId("schema-file").onchange = async () => {
    await takeFile(byId("schema-file").files[0]);
    byId("schema-file").value = "";
  };
  byId("form").ondragover = (event) => event.preventDefault();
  byId("form").ondrop = (event) => {
    if (!event.dataTransfer.files.length) return;
    event.preventDefault();
    byId("form").open = true;
    takeFile(event.dataTransfer.files[0]);
  };
}
