import type { InputOf } from '@bakehouse/contract/endpoint';
import type { countTokens, createMessage } from '@bakehouse/contract/messages';
import type { CompletionBody } from '../../modules/chat/body/completion-request.ts';
import { type OfferedTool, offerTools } from '../../modules/chat/tools/client-tools.ts';
import { invalidParam } from '../../platform/errors.ts';

export type MessageBody = InputOf<typeof createMessage>['body'];

/** A chat, warnings about ignored fields, and the paths of its messages and tools in the client's body. */
type AskedChat = { body: CompletionBody; places: string[]; toolPlaces: string[]; warnings: string[] };

/** Converts a message request into a chat. Throws AppError 'invalid_request'. */
export function toMessageChat(asked: MessageBody): AskedChat {
  const { max_tokens: maxTokens, thinking, stop_sequences: stops } = asked;
  if (thinking?.budget_tokens && thinking.budget_tokens >= maxTokens)
    throw invalidParam('thinking.budget_tokens', 'thinking.budget_tokens must be less than max_tokens');
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

/** Converts only what the model reads. Also used to count tokens. */
export function toChat(asked: Conversation): AskedChat {
  const { system, thinking, output_config: output } = asked;
  const turns = toTurns(asked.messages);
  if (turns.length === 0) throw invalidParam('messages', 'messages: there is no text in them to answer');
  const systemText = system?.map(({ text }) => text).join('\n');
  const all: Turn[] = systemText
    ? [{ place: 'system', message: { role: 'system', content: systemText } }, ...turns]
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
      // Chat templates without thinking ignore this value.
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

/** Omits deferred tools that the conversation has not loaded yet. */
function toAskedTools({ tools, messages }: Conversation): OfferedTool[] {
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
    throw invalidParam('tool_choice', `tool_choice: '${type}' needs 'tools' to choose from`);
  if (type === 'tool' && !name)
    throw invalidParam('tool_choice.name', "tool_choice.name is required: which of 'tools' is to be called");
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

type Call = { id: string; type: 'function'; function: { name: string; arguments: string } };

type Part = { type: string; text?: string; image_url?: { url: string }; at?: string };

type Message = { role: string; content: string | Part[] | null; tool_calls?: Call[]; tool_call_id?: string };

/** A chat message, and its path in the client's body. */
type Turn = { place: string; message: Message };

/** The fields that are common to creating a message and counting its tokens. */
type Conversation = InputOf<typeof countTokens>['body'];

type Sent = Conversation['messages'][number];

type Block = Sent['content'][number];

/** A block of a user or assistant turn. */
type Content = Extract<Sent, { role: 'user' | 'assistant' }>['content'][number];

type Placed<Shown = Content> = { block: Shown; place: string; isSystem?: boolean };

type Result = NonNullable<Of<'tool_result'>['content']>[number];

type Of<Type extends string> = Extract<Content, { type: Type }>;

/**
 * Returns the messages of the chat. Consecutive turns of one role are merged, each tool result becomes a
 * message of its own, and thoughts are dropped. Throws AppError 'invalid_request' if tool calls and results
 * do not match.
 */
function toTurns(messages: Sent[]): Turn[] {
  const turns = joined(messages);
  const called = new Map<string, string>();
  return turns.flatMap(({ role, place, blocks }, index) => {
    if (role === 'user') return userTurns(place, blocks, called);
    const calls = ofType(blocks, 'tool_use');
    for (const { block, place: at } of calls) {
      if (called.has(block.id))
        throw invalidParam(`${at}.id`, `${at}.id: each tool_use must have a unique id`);
      called.set(block.id, at);
    }
    if (calls.length > 0 && index === turns.length - 1) {
      const sentence = 'the conversation goes on with a user turn that has a tool_result for each tool_use';
      throw invalidParam(`${place}.content`, `${place}.content: ${sentence}`);
    }
    return assistantTurns(place, textOf(blocks), calls.map(toCall));
  });
}

type Joined = { role: 'user' | 'assistant'; place: string; blocks: Placed[] };

/**
 * Merges consecutive turns of one role. Chat templates accept a system prompt only at the start, so a later
 * system turn becomes marked text in a user turn.
 */
function joined(messages: Sent[]): Joined[] {
  const turns: Joined[] = [];
  for (const [index, { role, content }] of messages.entries()) {
    const place = `messages.${index}`;
    const blocks = (content as Block[]).map((block, at): Placed => {
      const placed = { place: `${place}.content.${at}`, isSystem: role === 'system' };
      return { ...placed, block: role === 'system' ? toReminder(block) : (block as Content) };
    });
    const side = role === 'assistant' ? 'assistant' : 'user';
    const last = turns.at(-1);
    if (last?.role === side) last.blocks.push(...blocks);
    else turns.push({ role: side, place, blocks });
  }
  return turns;
}

/** Uses the tag with which coding agents mark their own instructions in a user turn. */
function toReminder(block: Block): Of<'text'> {
  const text = block.type === 'text' ? `<system-reminder>\n${block.text}\n</system-reminder>` : '';
  return { type: 'text', text };
}

/** Returns by tool name whether the conversation has added or removed the tool; the last change counts. */
function toolChanges(messages: Sent[]): Map<string, boolean> {
  const changes = new Map<string, boolean>();
  for (const block of messages.flatMap(({ content }) => content as Block[])) {
    if (block.type === 'tool_addition' || block.type === 'tool_removal')
      changes.set(block.tool.name, block.type === 'tool_addition');
    if (block.type !== 'tool_result') continue;
    for (const one of block.content ?? [])
      if (one.type === 'tool_reference') changes.set(one.tool_name, true);
  }
  return changes;
}

/** Converts a user turn. `called`: tool calls of the previous turn, whose results must be in this one. */
function userTurns(place: string, blocks: Placed[], called: Map<string, string>): Turn[] {
  const results = ofType(blocks, 'tool_result');
  const firstOther = blocks.findIndex(({ block, isSystem }) => block.type !== 'tool_result' && !isSystem);
  const late =
    firstOther < 0 ? undefined : blocks.slice(firstOther).find(({ block }) => block.type === 'tool_result');
  if (late)
    throw invalidParam(late.place, `${late.place}: tool_result blocks come before the text of their turn`);
  const turns = results.map(({ block, place: at }): Turn => {
    const { tool_use_id: id, content, is_error: isError } = block;
    if (!called.delete(id)) {
      const sentence = `the turn before has no tool_use '${id.slice(0, 80)}' that is without a result`;
      throw invalidParam(`${at}.tool_use_id`, `${at}.tool_use_id: ${sentence}`);
    }
    const text = (content ?? []).map(toWords).join('\n');
    const told = isError ? `Error: ${text}` : text;
    return { place: at, message: { role: 'tool', content: told, tool_call_id: id } };
  });
  const [missing] = called.keys();
  if (missing !== undefined) {
    const sentence = `the tool_use '${missing.slice(0, 80)}' of the turn before has no tool_result here`;
    throw invalidParam(`${place}.content`, `${place}.content: ${sentence}`);
  }
  const content = blocks.some(({ block }) => block.type === 'image') ? toParts(blocks) : textOf(blocks);
  return content === '' ? turns : [...turns, { place, message: { role: 'user', content } }];
}

function toParts(blocks: Placed[]): Part[] {
  return blocks.flatMap(({ block, place }): Part[] => {
    if (isRead(block)) return [{ type: 'text', text: toWords(block) }];
    if (block.type !== 'image') return [];
    const { source } = block;
    const url = source.type === 'url' ? source.url : `data:${source.media_type};base64,${source.data}`;
    return [{ type: 'image_url', image_url: { url }, at: place.slice(place.lastIndexOf('.') + 1) }];
  });
}

function assistantTurns(place: string, text: string, calls: Call[]): Turn[] {
  if (calls.length > 0)
    return [{ place, message: { role: 'assistant', content: text || null, tool_calls: calls } }];
  return text === '' ? [] : [{ place, message: { role: 'assistant', content: text } }];
}

function toCall({ block: { id, name, input } }: Placed<Of<'tool_use'>>): Call {
  return { id, type: 'function', function: { name, arguments: JSON.stringify(input) } };
}

function textOf(blocks: Placed[]): string {
  return blocks.flatMap(({ block }) => (isRead(block) ? [toWords(block)] : [])).join('\n');
}

function isRead(block: Content): block is Of<'text'> | Of<'document'> {
  return block.type === 'text' || block.type === 'document';
}

/** Returns the text of a block for the model. */
function toWords(block: Of<'text'> | Of<'document'> | Result): string {
  if (block.type === 'text') return block.text;
  if (block.type === 'tool_reference') return `The tool ${block.tool_name} can be called now`;
  const { source, title, context } = block;
  const text = source.type === 'text' ? source.data : source.content.map((one) => one.text).join('\n');
  return [title, context, text].filter(Boolean).join('\n');
}

function ofType<Type extends Content['type']>(blocks: Placed[], type: Type): Placed<Of<Type>>[] {
  return blocks.filter((one): one is Placed<Of<Type>> => one.block.type === type);
}
