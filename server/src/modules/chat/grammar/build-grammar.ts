import { refused } from '../../../platform/errors.ts';
import { checkSchema } from '../body/check-schema.ts';
import type { AskedTools, Tool } from '../tools/asked-tools.ts';
import { literal, Rules } from './rules.ts';
import { SchemaGrammar } from './schema-grammar.ts';
import { beginRequest, NotEnforced, without } from './text-pattern.ts';

/** `schema` null: any JSON object. */
export type AnswerFormat = { schema: object | null; strict: boolean };

/** Whether the model's template lets it think before an answer, or has begun a thought for it. */
export type Thinks = 'never' | 'may' | 'always';

export type AskedGrammar = { format: AnswerFormat | null; tools: AskedTools | null; thinks: Thinks };

/** Where a chat has its schema. */
export const SCHEMA_PARAM = 'response_format.json_schema.schema';

/** Calls in one answer that is made to call; a model that may go on seldom ends by itself. */
const CALLS_MAX = 8;
/** What a model writes around a call that it is free to make, in the form that most are trained in. */
export const CALL_MARK = '<tool_call>';
const CALL_END = '</tool_call>';

/**
 * Returns the grammar in GBNF that binds an answer. A hostile schema takes seconds: the server builds in a worker. Throws
 * AppError 'invalid_request', with the path of what is not enforced.
 */
export function buildGrammar({ format, tools, thinks }: AskedGrammar): string {
  beginRequest();
  const rules = new Rules();
  const answer = format && schemaRule(rules, format, SCHEMA_PARAM);
  let root = answer ?? '';
  if (tools?.choice === 'required') root = requiredCalls(rules, tools);
  else if (tools) {
    const calls = markedCalls(rules, tools);
    const text = answer ?? rules.automaton(without(CALL_MARK), 'bare') ?? '""';
    root = answer ? `${calls} | ${text}` : `${text} ${rules.add(`${calls} | ""`)}`;
  }
  const thought = thinks === 'never' ? '' : rules.automaton(without('</think>'), 'bare');
  if (thinks === 'may') root = `${rules.add(`("<think>" ${thought} "</think>" space)?`)} ${rules.add(root)}`;
  if (thinks === 'always') root = `${thought} "</think>" space ${rules.add(root)}`;
  return rules.toString(root);
}

function requiredCalls(rules: Rules, { tools, callable, isMany }: AskedTools): string {
  const call = callRule(rules, tools, callable);
  return isMany ? `"[" space ${call} ("," space ${call}){0,${CALLS_MAX - 1}} space "]"` : call;
}

function markedCalls(rules: Rules, { tools, callable, isMany }: AskedTools): string {
  const call = callRule(rules, tools, callable);
  const marked = rules.add(`${literal(`${CALL_MARK}\n`)} ${call} ${literal(`\n${CALL_END}`)}`);
  return isMany ? rules.add(`${marked} ("\\n" ${marked}){0,${CALLS_MAX - 1}}`) : marked;
}

/** A call: the name of a function, then what it takes. */
function callRule(rules: Rules, tools: Tool[], callable: Tool[]): string {
  const all = callable.map((tool) => {
    const path = `tools.${tools.indexOf(tool)}.function.parameters`;
    const taken = schemaRule(rules, { schema: tool.parameters, strict: tool.strict }, path);
    return `${literal(JSON.stringify(tool.name))} "," space "\\"arguments\\"" ":" space ${taken}`;
  });
  return rules.add(`"{" space "\\"name\\"" ":" space (${all.join(' | ')}) space "}"`);
}

function schemaRule(rules: Rules, { schema, strict }: AnswerFormat, path: string): string {
  if (!schema) return 'object';
  const fault = checkSchema(schema);
  if (fault && strict) throw refused(path, `${path}: ${fault}`);
  // A schema that would make a shared server stall and need not be enforced.
  if (fault) return 'object';
  try {
    return new SchemaGrammar(schema, { rules, strict, path }).whole();
  } catch (error) {
    if (!(error instanceof NotEnforced)) throw error;
    if (strict) throw refused(path, error.message);
    return 'object';
  }
}
