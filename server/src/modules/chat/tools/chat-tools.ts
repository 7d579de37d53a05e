import type { CompletionBody } from '../body/completion-request.ts';
import type { Chunk } from '../completion-stream.ts';
import {
  type OfferedTool,
  type OfferedTools,
  offerTools,
  type ToolName,
  toArguments,
  toInput,
} from './client-tools.ts';

type Described = Omit<OfferedTool, 'place' | 'type'>;
type SentTool = { type: string; function?: Described; custom?: Described };
type Choice =
  | string
  | { type: string; custom?: { name: string }; allowed_tools?: { mode: string; tools: SentTool[] } };
type SentCall = { id: string; type: string; custom?: { name: string; input: string } };
type Sent = {
  tools?: SentTool[] | null;
  tool_choice?: Choice | null;
  messages?: { tool_calls?: SentCall[] | null }[];
};

/** Converts all tools and calls of a chat into functions. Throws AppError 'invalid_request'. */
export function withFunctions(body: CompletionBody): { body: CompletionBody; offered: OfferedTools | null } {
  const { tools: sent, tool_choice: choice, messages } = body as Sent;
  const called = messages?.some(({ tool_calls: calls }) => calls?.some(({ type }) => type === 'custom'));
  const history = called && { messages: messages?.map(withFunctionCalls) };
  if (!sent) return { body: { ...body, ...history }, offered: null };
  const allowed = typeof choice === 'object' ? choice?.allowed_tools : undefined;
  const offered = offerTools(
    sent.map((tool, index) => ({ ...described(tool), type: tool.type, place: `tools.${index}` })),
    allowed ? allowed.tools.map((tool) => ({ ...described(tool), type: tool.type })) : null,
  );
  return {
    offered,
    body: { ...body, ...history, tools: offered.tools, tool_choice: allowed?.mode ?? named(choice) },
  };
}

function described(tool: SentTool): Described {
  return tool.function ?? tool.custom ?? { name: '' };
}

function named(choice: Choice | null | undefined): unknown {
  if (typeof choice !== 'object' || !choice?.custom) return choice;
  return { type: 'function', function: { name: choice.custom.name } };
}

function withFunctionCalls<Message extends { tool_calls?: SentCall[] | null }>(message: Message): Message {
  const calls = message.tool_calls?.map((call) => {
    if (!call.custom) return call;
    const { name, input } = call.custom;
    return { id: call.id, type: 'function', function: { name, arguments: toArguments(input) } };
  });
  return { ...message, ...(calls && { tool_calls: calls }) };
}

/** Returns true if calls of this function are calls of a custom tool. */
export type IsCustom = (name: string) => boolean;

export function isCustomOf(clientTools: Map<string, ToolName> | undefined): IsCustom {
  return (name) => clientTools?.get(name)?.type === 'custom';
}

/**
 * Rewrites the calls of custom tools in a stream. Collects each call, decodes its text from JSON, and sends
 * it in one piece.
 */
export class CustomCalls {
  private readonly isCustom: IsCustom;
  /** The unfinished call of each choice. */
  private readonly open = new Map<number, { index: number; written: string }>();

  constructor(isCustom: IsCustom) {
    this.isCustom = isCustom;
  }

  rewrite(chunk: Chunk): object {
    return { ...chunk, choices: chunk.choices.map((choice) => this.rewriteChoice(choice)) };
  }

  private rewriteChoice(choice: Chunk['choices'][number]): object {
    const { index: place, delta, finish_reason: reason } = choice;
    const calls: object[] = [];
    for (const call of delta?.tool_calls ?? []) {
      const { id, index, function: said } = call;
      if (id) calls.push(...this.end(place));
      const open = this.open.get(place);
      if (id && this.isCustom(said.name ?? '')) {
        this.open.set(place, { index, written: said.arguments });
        calls.push({ index, id, type: 'custom', custom: { name: said.name, input: '' } });
      } else if (open?.index === index) open.written += said.arguments;
      else calls.push(call);
    }
    if (reason) calls.push(...this.end(place));
    if (!delta) return choice;
    const { tool_calls: _, ...rest } = delta;
    return { ...choice, delta: { ...rest, ...(calls.length > 0 && { tool_calls: calls }) } };
  }

  private end(place: number): object[] {
    const open = this.open.get(place);
    this.open.delete(place);
    return open ? [{ index: open.index, custom: { input: toInput(open.written) } }] : [];
  }
}
