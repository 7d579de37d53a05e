import { invalidParam } from '../../../platform/errors.ts';
import { type CallableTools, type Tool, type ToolsBody, toolsOf } from './callable-tools.ts';

/**
 * Returns the tools that a chat offers, after checks that the contract cannot express. Returns null if the
 * model may call none. Throws AppError 'invalid_request'.
 */
export function checkTools(body: Record<string, unknown>): CallableTools | null {
  checkNames(body);
  const asked = toolsOf(body);
  for (const [index, tool] of (asked?.tools ?? []).entries())
    checkParameters(tool, `tools.${index}.function`);
  return asked;
}

function checkNames({ tools, tool_choice: choice }: ToolsBody): void {
  const names = (tools ?? []).map((tool) => tool.function.name);
  const again = names.findIndex((name, index) => names.indexOf(name) < index);
  if (again >= 0)
    throw invalidParam(
      `tools.${again}.function.name`,
      `tools.${again}.function.name: there are two '${names[again]}'`,
    );
  if (choice === 'required' && names.length === 0)
    throw invalidParam('tool_choice', "tool_choice: 'required' needs 'tools' to choose from");
  if (typeof choice === 'object' && choice && !names.includes(choice.function.name))
    throw invalidParam('tool_choice', `tool_choice: there is no '${choice.function.name}' in 'tools'`);
}

function checkParameters({ parameters }: Tool, path: string): void {
  const param = `${path}.parameters.type`;
  if (parameters.type !== 'object') throw invalidParam(param, `${param} must be 'object'`);
}

type Turn = {
  role: string;
  content?: unknown;
  tool_calls?: { id: string; function: { arguments: string } }[] | null;
  tool_call_id?: string | null;
};

/**
 * Checks that calls and results match. Each result must follow the message with its call and contain the
 * call's id. Every call must have a result before the next message. Throws AppError 'invalid_request'.
 */
export function checkTurns(turns: Turn[]): void {
  let calls = new Set<string>();
  for (const [index, turn] of turns.entries()) {
    const path = `messages.${index}`;
    if (turn.role === 'tool') checkResult(turn, path, calls);
    else calls = callsOf(turn, path);
  }
  const last = turns.at(-1);
  if (last?.tool_calls?.length) {
    const param = `messages.${turns.length - 1}.tool_calls`;
    throw invalidParam(
      param,
      `${param}: tool calls must be followed by their results: send a 'tool' turn for each call`,
    );
  }
}

function checkResult({ content, tool_call_id: id }: Turn, path: string, calls: Set<string>): void {
  const param = `${path}.tool_call_id`;
  if (calls.size === 0)
    throw invalidParam(
      `${path}.role`,
      `${path}.role: a 'tool' turn follows an 'assistant' turn with 'tool_calls'`,
    );
  if (!id) throw invalidParam(param, `${param} is required: the id of the call whose result this is`);
  if (!calls.has(id))
    throw invalidParam(param, `${param}: the previous turn has no call '${id.slice(0, 80)}'`);
  if (content === null || content === undefined)
    throw invalidParam(`${path}.content`, `${path}.content is required: the result of the call, as text`);
}

function callsOf({ role, tool_calls: calls }: Turn, path: string): Set<string> {
  if (!calls?.length) return new Set();
  if (role !== 'assistant')
    throw invalidParam(`${path}.tool_calls`, `${path}.tool_calls: only 'assistant' turns call tools`);
  for (const [index, call] of calls.entries()) {
    const param = `${path}.tool_calls.${index}.function.arguments`;
    if (!isObject(call.function.arguments))
      throw invalidParam(param, `${param} must be a JSON object, as text`);
  }
  const ids = new Set(calls.map(({ id }) => id));
  if (ids.size < calls.length)
    throw invalidParam(`${path}.tool_calls`, `${path}.tool_calls: each call must have a unique id`);
  return ids;
}

/** Clients send an empty text as the arguments of a function without parameters. */
function isObject(text: string): boolean {
  if (text.trim() === '') return true;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
