import { refused } from '../../../platform/errors.ts';
import { type AskedTools, type Tool, type ToolsBody, toolsOf } from './asked-tools.ts';

/**
 * Returns the tools that a chat offers, after checks that the contract cannot express; null if the model may
 * call none. Throws AppError 'invalid_request'.
 */
export function checkTools(body: Record<string, unknown>): AskedTools | null {
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
    throw refused(
      `tools.${again}.function.name`,
      `tools.${again}.function.name: there are two '${names[again]}'`,
    );
  if (choice === 'required' && names.length === 0)
    throw refused('tool_choice', "tool_choice: 'required' needs 'tools' to choose from");
  if (typeof choice === 'object' && choice && !names.includes(choice.function.name))
    throw refused('tool_choice', `tool_choice: there is no '${choice.function.name}' in 'tools'`);
}

function checkParameters({ parameters }: Tool, path: string): void {
  const param = `${path}.parameters.type`;
  if (parameters.type !== 'object') throw refused(param, `${param} must be 'object'`);
}
