import type { InputOf } from '@bakehouse/contract/endpoint';
import type { createMessage } from '@bakehouse/contract/messages';
import { refused } from '../../../platform/errors.ts';
import type { CompletionBody } from '../body/completion-request.ts';
import { type AskedTool, offerTools } from '../tools/client-tools.ts';
import { type Conversation, type Turn, toolChanges, toTurns } from './to-turns.ts';

export type MessageBody = InputOf<typeof createMessage>['body'];

/** A chat, the path of each of its messages and tools in the body, and warnings about ignored fields. */
export type AskedChat = { body: CompletionBody; places: string[]; toolPlaces: string[]; warnings: string[] };

/** Converts a message request into a chat. Throws AppError 'invalid_request'. */
export function toMessageChat(asked: MessageBody): AskedChat {
  const { max_tokens: maxTokens, thinking, stop_sequences: stops } = asked;
  if (thinking?.budget_tokens && thinking.budget_tokens >= maxTokens)
    throw refused('thinking.budget_tokens', 'thinking.budget_tokens must be less than max_tokens');
  const chat = toChat(asked);
  return {
    ...chat,
    body: {
      ...chat.body,
      ...{ stream: asked.stream ?? false, max_completion_tokens: maxTokens },
      ...{ temperature: asked.temperature, top_p: asked.top_p, top_k: asked.top_k },
      ...(stops?.length && { stop: stops, tells_stop: true }),
    },
  };
}

/** Converts only the parts that the model reads. */
export function toChat(asked: Conversation): AskedChat {
  const { system, thinking, output_config: output } = asked;
  const turns = toTurns(asked.messages);
  if (turns.length === 0) throw refused('messages', 'messages: there is no text in them to answer');
  const said = system?.map(({ text }) => text).join('\n');
  const all: Turn[] = said
    ? [{ place: 'system', message: { role: 'system', content: said } }, ...turns]
    : turns;
  const { tools, places: toolPlaces, warnings } = offerTools(toAskedTools(asked), null);
  return {
    ...{ places: all.map(({ place }) => place), toolPlaces, warnings },
    body: {
      model: asked.model,
      messages: all.map(({ message }) => message),
      tools,
      ...toChoice(asked),
      response_format: toFormat(asked),
      reasoning_effort: output?.effort === 'max' ? 'xhigh' : output?.effort,
      // Templates without thinking ignore it.
      ...(thinking && { chat_template_kwargs: { enable_thinking: thinking.type !== 'disabled' } }),
    },
  };
}

type CustomTool = {
  name: string;
  description?: string | null;
  input_schema: Record<string, unknown>;
  strict?: boolean | null;
  defer_loading?: boolean | null;
};

/** Drops deferred tools to which the conversation has not referred yet. */
function toAskedTools({ tools, messages }: Conversation): AskedTool[] {
  const changes = toolChanges(messages);
  return (tools ?? []).flatMap((sent, index) => {
    const { type } = sent;
    const {
      name,
      description,
      input_schema: parameters,
      strict,
      defer_loading: isDeferred,
    } = sent as CustomTool;
    if (!(changes.get(name) ?? !isDeferred)) return [];
    const isOwn = typeof type !== 'string' || type === 'custom';
    return [
      { place: `tools.${index}`, type: isOwn ? 'function' : type, name, description, parameters, strict },
    ];
  });
}

function toChoice({ tools, tool_choice: choice }: Conversation): object {
  if (!choice) return {};
  const { type, name, disable_parallel_tool_use: isOne } = choice;
  if ((type === 'any' || type === 'tool') && !tools?.length)
    throw refused('tool_choice', `tool_choice: '${type}' needs 'tools' to choose from`);
  if (type === 'tool' && !name)
    throw refused('tool_choice.name', "tool_choice.name is required: which of 'tools' is to be called");
  const named = { type: 'function', function: { name } };
  return {
    tool_choice: { auto: 'auto', none: 'none', any: 'required', tool: named }[type],
    ...(typeof isOne === 'boolean' && { parallel_tool_calls: !isOne }),
  };
}

function toFormat({ output_config: output }: Conversation): unknown {
  if (!output?.format) return undefined;
  return { type: 'json_schema', json_schema: { name: 'answer', schema: output.format.schema } };
}
