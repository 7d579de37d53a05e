import type { InputOf } from '@bakehouse/contract/endpoint';
import type { createMessage } from '@bakehouse/contract/messages';
import { refused } from '../../../platform/errors.ts';
import type { CompletionBody } from '../body/completion-request.ts';
import { type Conversation, type Turn, toTurns } from './to-turns.ts';

export type MessageBody = InputOf<typeof createMessage>['body'];

/** A chat, and where each of its messages stands in what was asked. */
export type AskedChat = { body: CompletionBody; places: string[] };

/** The chat that a message is the answer of. Throws AppError 'invalid_request'. Pure. */
export function toMessageChat(asked: MessageBody): AskedChat {
  const { max_tokens: maxTokens, thinking, stop_sequences: stops } = asked;
  if (thinking?.budget_tokens && thinking.budget_tokens >= maxTokens)
    throw refused('thinking.budget_tokens', 'thinking.budget_tokens must be less than max_tokens');
  const { body, places } = toChat(asked);
  return {
    places,
    body: {
      ...body,
      ...{ stream: asked.stream ?? false, max_completion_tokens: maxTokens },
      ...{ temperature: asked.temperature, top_p: asked.top_p, top_k: asked.top_k },
      ...(stops?.length && { stop: stops, tells_stop: true }),
    },
  };
}

/** The same of what the model reads alone. */
export function toChat(asked: Conversation): AskedChat {
  const { system, thinking, output_config: output } = asked;
  const turns = toTurns(asked.messages);
  if (turns.length === 0) throw refused('messages', 'messages: there is no text in them to answer');
  const said = system?.map(({ text }) => text).join('\n');
  const all: Turn[] = said
    ? [{ place: 'system', message: { role: 'system', content: said } }, ...turns]
    : turns;
  return {
    places: all.map(({ place }) => place),
    body: {
      model: asked.model,
      messages: all.map(({ message }) => message),
      tools: asked.tools?.map(({ name, description, input_schema: parameters, strict }) => ({
        type: 'function',
        function: { name, description, parameters, strict },
      })),
      ...toChoice(asked),
      response_format: toFormat(asked),
      reasoning_effort: output?.effort === 'max' ? 'xhigh' : output?.effort,
      // Templates of models that do not think pass it over.
      ...(thinking && { chat_template_kwargs: { enable_thinking: thinking.type !== 'disabled' } }),
    },
  };
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
