import { refused } from '../../../platform/errors.ts';
import type { TextEngine } from '../../serving/text-spec.ts';
import { checkEnforced } from '../body/check-enforced.ts';
import { checkSchema } from '../body/check-schema.ts';
import { type AskedTools, type Tool, type ToolsBody, toolsOf } from './asked-tools.ts';
import { callsSchema } from './calls-schema.ts';

/**
 * The tools that a chat offers, once what the contract cannot bound is checked; null where the model may call none.
 * Throws AppError 'invalid_request'.
 */
export function checkTools(body: Record<string, unknown>, engine: TextEngine): AskedTools | null {
  checkNames(body);
  const asked = toolsOf(body);
  if (!asked) return null;
  for (const [index, tool] of asked.tools.entries()) checkParameters(tool, `tools.${index}.function`);
  // All of them are one grammar for the model server.
  const together = checkSchema(callsSchema(asked.tools, { isMany: true }));
  if (together) throw refused('tools', `tools: taken together, ${together}`);
  if (asked.choice === 'auto') checkFreeChoice(body, asked, engine);
  return asked;
}

function checkNames({ tools, tool_choice: choice }: ToolsBody): void {
  const names = (tools ?? []).map((tool) => tool.function.name);
  const again = names.findIndex((name, index) => names.indexOf(name) < index);
  if (again >= 0)
    throw refused(
      `tools.${again}.function.name`,
      `tools.${again}.function.name: there are two '${names[again]}'`,
    );
  if (choice === 'required' && names.length === 0)
    throw refused('tool_choice', "tool_choice: 'required' needs 'tools' to choose from");
  if (typeof choice === 'object' && choice && !names.includes(choice.function.name))
    throw refused('tool_choice', `tool_choice: there is no '${choice.function.name}' in 'tools'`);
}

function checkParameters({ parameters, strict }: Tool, path: string): void {
  const param = `${path}.parameters`;
  if (parameters.type !== 'object') throw refused(`${param}.type`, `${param}.type must be 'object'`);
  const fault = checkSchema(parameters);
  if (fault) throw refused(param, `${param}: ${fault}`);
  const unenforced = strict ? checkEnforced(parameters, param) : null;
  if (unenforced) throw refused(param, unenforced);
}

/** What goes with a call that is required, and not with one that the model may leave out. */
function checkFreeChoice(
  { response_format: format }: ToolsBody,
  { tools }: AskedTools,
  engine: TextEngine,
): void {
  if (format && format.type !== 'text') {
    throw refused(
      'response_format',
      `response_format: '${format.type}' does not go with tools that the model is free to call. Set 'tool_choice' to 'none', 'required' or a function, or leave it out`,
    );
  }
  // vLLM reads the calls that a model makes by itself out of its words, whatever they are.
  const strict = engine === 'vllm' ? tools.findIndex((tool) => tool.strict) : -1;
  if (strict >= 0) {
    const param = `tools.${strict}.function.strict`;
    throw refused(
      param,
      `${param}: on a GPU only a call that is required is bound by its schema. Set 'tool_choice' to 'required' or the function, or leave out 'strict'`,
    );
  }
}
