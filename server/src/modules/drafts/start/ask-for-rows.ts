import { type DraftSettings, ROWS_PLACE, TEXT_PLACE } from '@bakehouse/contract/drafts';
import type { ChatToQuote } from '../../batches/quote-chats.ts';

/** Tokens of a row with its JSON. */
const ROW_TOKENS = 250;
/** Low, because the rows must be factual. */
const TEMPERATURE = 0.2;

/** Returns the request for the rows of a chunk; the model server constrains the answer to the schema. */
export function askForRows(
  { model, prompt, rows_per_chunk: rows }: Pick<DraftSettings, 'model' | 'prompt' | 'rows_per_chunk'>,
  text: string,
): ChatToQuote {
  const places: Record<string, string> = { [TEXT_PLACE]: text, [ROWS_PLACE]: String(rows) };
  return {
    model,
    // A single pass, because the document's text may contain placeholders itself.
    messages: [
      { role: 'user', content: prompt.replace(/\{\{(?:text|rows)\}\}/g, (place) => places[place] ?? '') },
    ],
    max_tokens: ROW_TOKENS * (rows + 1),
    temperature: TEMPERATURE,
    response_format: {
      type: 'json_schema',
      json_schema: { name: 'rows', strict: true, schema: schemaOf(rows) },
    },
  };
}

function schemaOf(rows: number): object {
  const text = { type: 'string' };
  const row = {
    type: 'object',
    properties: { question: text, answer: text },
    required: ['question', 'answer'],
    additionalProperties: false,
  };
  return {
    type: 'object',
    properties: { rows: { type: 'array', items: row, minItems: 1, maxItems: rows } },
    required: ['rows'],
    additionalProperties: false,
  };
}
