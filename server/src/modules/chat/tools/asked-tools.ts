import { toReadableSchema } from './readable-schema.ts';

type Fields = Record<string, unknown>;

/** A function that the model may call. */
export type Tool = { name: string; description: string | null; parameters: Fields; strict: boolean };

/** `required`: an answer is a call of one of `callable`, or several where `isMany`. */
export type AskedTools = { tools: Tool[]; choice: 'auto' | 'required'; callable: Tool[]; isMany: boolean };

/** What a chat says of tools, in the shape that the contract has checked. */
export type ToolsBody = {
  tools?:
    | {
        function: {
          name: string;
          description?: string | null;
          parameters?: Fields | null;
          strict?: boolean | null;
        };
      }[]
    | null;
  tool_choice?: string | { function: { name: string } } | null;
  parallel_tool_calls?: boolean | null;
  response_format?: { type: string } | null;
};

/** A function without parameters takes nothing. */
const NOTHING: Fields = { type: 'object', properties: {}, additionalProperties: false };

/** The tools that the model may call; null where there are none, or none may be called. Pure. */
export function toolsOf(body: Fields): AskedTools | null {
  const { tools: sent, tool_choice: choice, parallel_tool_calls: parallel } = body as ToolsBody;
  if (!sent?.length || choice === 'none') return null;
  const tools = sent.map(({ function: { name, description, parameters, strict } }) => ({
    name,
    description: description ?? null,
    parameters: parameters && Object.keys(parameters).length > 0 ? parameters : NOTHING,
    strict: strict === true,
  }));
  if (typeof choice !== 'object' || choice === null) {
    const isAuto = choice !== 'required';
    // A model that is made to call goes on calling: so it makes several only where it is asked for them.
    const isMany = isAuto ? parallel !== false : parallel === true;
    return { tools, choice: isAuto ? 'auto' : 'required', callable: tools, isMany };
  }
  const callable = tools.filter(({ name }) => name === choice.function.name);
  return { tools, choice: 'required', callable, isMany: false };
}

/** A tool as model servers take it; `isRead`: llama.cpp makes a grammar of its parameters. */
export function toServerTool(
  { name, description, parameters }: Tool,
  { isRead }: { isRead: boolean },
): object {
  return {
    type: 'function',
    function: {
      name,
      ...(description !== null && { description }),
      parameters: isRead ? toReadableSchema(parameters) : parameters,
    },
  };
}
