import { readFileSync } from 'node:fs';
import { Template } from '@huggingface/jinja';
import * as z from 'zod';
import { withFile } from './byte-source.ts';
import { readGgufTemplates } from './gguf.ts';

const inConfig = z.object({
  chat_template: z.union([z.string(), z.array(z.object({ template: z.string() }))]),
});

/** Returns where the file holds chat templates; null if it holds none. */
export function templateSource(name: string): 'gguf' | 'jinja' | 'config' | null {
  const base = name.split('/').at(-1)?.toLowerCase() ?? '';
  if (base.endsWith('.gguf')) return 'gguf';
  if (base.endsWith('.jinja')) return 'jinja';
  return base === 'tokenizer_config.json' || base === 'chat_template.json' ? 'config' : null;
}

export type TemplateSource = NonNullable<ReturnType<typeof templateSource>>;

/**
 * Renders each chat template of a complete file as engines do at start, to prove that rendering ends. Errors
 * and output are ignored: the engines report them.
 */
export function renderTemplates(localPath: string, source: TemplateSource): null {
  for (const template of readTemplates(localPath, source)) {
    for (const input of conversations) {
      try {
        new Template(template).render({ ...input, bos_token: '<s>', eos_token: '</s>' });
      } catch {
        // It terminated, which is all that is checked.
      }
    }
  }
  return null;
}

function readTemplates(localPath: string, source: TemplateSource): string[] {
  if (source === 'gguf') return withFile(localPath, readGgufTemplates);
  const text = readFileSync(localPath, 'utf8');
  if (source === 'jinja') return [text];
  const { data } = inConfig.safeParse(parseJson(text));
  if (!data) return [];
  return typeof data.chat_template === 'string'
    ? [data.chat_template]
    : data.chat_template.map(({ template }) => template);
}

/** Returns null for invalid JSON. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

const question = { role: 'user', content: 'Who bakes the bread?' };
const tool = {
  type: 'function',
  function: { name: 'bakers', description: 'Who is in', parameters: { type: 'object', properties: {} } },
};

/** Inputs that cover the branches of templates: a single question, history, and tools. */
const conversations = [
  { messages: [question], add_generation_prompt: true },
  {
    messages: [
      { role: 'system', content: 'Be short.' },
      question,
      { role: 'assistant', content: 'Ada.' },
      question,
    ],
    tools: [tool],
    add_generation_prompt: true,
  },
  { messages: [question, { role: 'assistant', content: 'Ada.' }], add_generation_prompt: false },
];
