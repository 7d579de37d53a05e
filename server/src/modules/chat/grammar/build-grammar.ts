import { invalidParam } from '../../../platform/errors.ts';
import { checkSchema } from '../body/check-schema.ts';
import type { CallableTools, Tool } from '../tools/callable-tools.ts';
import { literal, Rules } from './rules.ts';
import { SchemaGrammar } from './schema-grammar.ts';
import { NotEnforced, resetWorkBudget, without } from './text-pattern.ts';

/** If `schema` is null, any JSON object is allowed. */
export type AnswerFormat = { schema: object | null; strict: boolean };

/**
 * Whether a thought precedes the answer: never, optionally, or always because the template has already
 * started one.
 */
export type Thinks = 'never' | 'may' | 'always';

export type GrammarRequest = { format: AnswerFormat | null; tools: CallableTools | null; thinks: Thinks };

/** The path of a schema in a chat request. */
export const SCHEMA_PARAM = 'response_format.json_schema.schema';

/**
 * Maximum calls in one answer with required calls. Models seldom stop on their own if the grammar allows
 * another call.
 */
const CALLS_MAX = 8;
/** The text before and after an optional call, in the form on which most models are trained. */
export const CALL_MARK = '<tool_call>';
const CALL_END = '</tool_call>';

/**
 * Returns the GBNF grammar that binds an answer. A hostile schema takes seconds, so the server calls it in a
 * worker. Throws AppError 'invalid_request' with the path of the keyword that cannot be enforced.
 */
export function buildGrammar({ format, tools, thinks }: GrammarRequest): string {
  resetWorkBudget();
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

function requiredCalls(rules: Rules, { tools, callable, isMany }: CallableTools): string {
  const call = callRule(rules, tools, callable);
  return isMany ? `"[" space ${call} ("," space ${call}){0,${CALLS_MAX - 1}} space "]"` : call;
}

function markedCalls(rules: Rules, { tools, callable, isMany }: CallableTools): string {
  const call = callRule(rules, tools, callable);
  const marked = rules.add(`${literal(`${CALL_MARK}\n`)} ${call} ${literal(`\n${CALL_END}`)}`);
  return isMany ? rules.add(`${marked} ("\\n" ${marked}){0,${CALLS_MAX - 1}}`) : marked;
}

/** A call: the function's name, then its arguments. */
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
  if (fault && strict) throw invalidParam(path, `${path}: ${fault}`);
  // Not strict, and enforcing the schema would stall a shared model server.
  if (fault) return 'object';
  try {
    return new SchemaGrammar(schema, { rules, strict, path }).whole();
  } catch (error) {
    if (!(error instanceof NotEnforced)) throw error;
    if (strict) throw invalidParam(path, error.message);
    return 'object';
  }
}
