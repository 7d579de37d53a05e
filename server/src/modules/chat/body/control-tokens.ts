import type { CompletionBody } from './completion-request.ts';

/** Nobody sees it, and with it in between a text is no control token. */
const JOINER = '\u2060';
/** How control tokens are written; only those of the model count. */
const LOOKS_LIKE_ONE = /<[|\uff5c/a-z]|\[\/?[A-Z]/;

type Part = { text?: string };
type Message = {
  content?: string | Part[] | null;
  tool_calls?: { function: { arguments: string } }[] | null;
};

/** Whether a control token may stand in what was said. */
export function mayHaveControls({ messages }: CompletionBody): boolean {
  return messages !== undefined && LOOKS_LIKE_ONE.test(JSON.stringify(messages));
}

/** The same chat, with what users and tools wrote as text alone: no turn ends or begins within a message. Pure. */
export function withoutControls(body: CompletionBody, controls: string[]): CompletionBody {
  // Longer ones first: one may begin another.
  const known = controls.filter((one) => one.length > 2).sort((one, other) => other.length - one.length);
  if (known.length === 0) return body;
  const control = new RegExp(known.map((one) => RegExp.escape(one)).join('|'), 'g');
  const plain = (text: string) => text.replace(control, (found) => found[0] + JOINER + found.slice(1));
  const messages = (body.messages as Message[]).map(({ content, tool_calls: calls, ...rest }) => ({
    ...rest,
    content: Array.isArray(content)
      ? content.map((part) => (part.text === undefined ? part : { ...part, text: plain(part.text) }))
      : content && plain(content),
    ...(calls && {
      tool_calls: calls.map((call) => ({
        ...call,
        function: { ...call.function, arguments: plain(call.function.arguments) },
      })),
    }),
  }));
  return { ...body, messages };
}
