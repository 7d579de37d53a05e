import { CornerDownLeft, RotateCcw, Square } from 'lucide-react';
import { type FormEvent, type KeyboardEvent, useEffect, useState } from 'react';
import { ApiError } from '../../../lib/api/api-error.ts';
import { cx } from '../../../lib/cx.ts';
import { currencyChoice } from '../../../lib/format/currency.ts';
import { Button, ButtonLink } from '../../../ui/button.tsx';
import { Callout } from '../../../ui/callout.tsx';
import { Money } from '../../../ui/money.tsx';
import { errorMessage } from '../../../ui/notify.ts';
import { Textarea } from '../../../ui/textarea.tsx';
import { useStickToBottom } from '../../../ui/use-stick-to-bottom.ts';
import { useUser } from '../../accounts/api.ts';
import { type ServingDevice, useServingPrice } from '../serving-prices.ts';
import { ChatOptionFields, optionProblems } from './chat-options.tsx';
import { ConversationTurn } from './conversation-turn.tsx';
import { type Turn, useConversation } from './use-conversation.ts';

type Props = {
  /** The deployment's id, or a shared model's name: each has a conversation of its own. */
  conversationId: string;
  modelName: string;
  /** Where it is served: sets the price of its tokens. */
  device: ServingDevice | undefined;
  /** BGL for an hour of a deployment; a model that everybody shares has none. */
  pricePerHour?: string;
  /** Why nothing can be asked any more. */
  closed?: string | undefined;
};

/** Chat with one model as it streams. */
export function Playground(props: Props) {
  const { id: userId } = useUser();
  return <OwnPlayground key={`${userId} ${props.conversationId}`} userId={userId} {...props} />;
}

function OwnPlayground({
  userId,
  conversationId,
  modelName,
  device,
  pricePerHour,
  closed,
}: Props & { userId: string }) {
  const conversation = useConversation({ userId, id: conversationId, modelName });
  const { turns, unanswered, settings, setSettings, error, answering, ask, stop, clear } = conversation;
  if (closed) return <ClosedConversation why={closed} modelName={modelName} conversation={conversation} />;
  const isAskable = Object.keys(optionProblems(settings.options)).length === 0;
  return (
    <div className="grid gap-5 lg:grid-cols-[minmax(0,1fr)_14rem]">
      <div className="flex min-w-0 flex-col gap-3">
        <Turns modelName={modelName} turns={turns} answering={answering} />
        {error !== null && <NoAnswer error={error} />}
        <Question {...{ answering, isAskable, unanswered, ask, stop }} />
        <TokenPrices device={device} pricePerHour={pricePerHour} />
      </div>
      <div className="flex flex-col gap-4">
        <ChatOptionFields settings={settings} onChange={setSettings} />
        <Button variant="ghost" disabled={turns.length === 0 || answering} onClick={clear}>
          <RotateCcw aria-hidden />
          New conversation
        </Button>
      </div>
    </div>
  );
}

/** Why no answer came; too little credit leads to more of it, in the currency that is chosen by now. */
function NoAnswer({ error }: { error: unknown }) {
  currencyChoice.use();
  const needsCredit = error instanceof ApiError && error.code === 'insufficient_funds';
  return (
    <Callout
      tone="bad"
      title="The model did not answer"
      action={
        needsCredit && (
          <ButtonLink to="/buy-bagels" size="sm" className="self-center">
            Buy credits
          </ButtonLink>
        )
      }
    >
      {errorMessage(error)}
    </Callout>
  );
}

type Conversation = ReturnType<typeof useConversation>;

type ClosedProps = { why: string; modelName: string; conversation: Conversation };

/** What was said, also the question that was never answered. */
function ClosedConversation({ why, modelName, conversation }: ClosedProps) {
  const { turns, unanswered, answering } = conversation;
  const said: Turn[] = unanswered ? [...turns, { role: 'user', content: unanswered }] : turns;
  return (
    <div className="flex flex-col gap-3">
      {said.length > 0 && <Turns modelName={modelName} turns={said} answering={answering} />}
      <p className={cx('text-center text-muted', said.length === 0 && 'py-8')}>{why}</p>
    </div>
  );
}

/** The turns so far; their end stays in sight unless the person has scrolled up. */
function Turns({
  modelName,
  turns,
  answering,
}: Pick<Conversation, 'turns' | 'answering'> & { modelName: string }) {
  const { box, content, onScroll, follow } = useStickToBottom();
  // Who asks looks at what they have asked.
  useEffect(() => follow(), [follow, turns.length]);
  return (
    <div
      ref={box}
      role="log"
      aria-label="Conversation"
      aria-busy={answering}
      tabIndex={0}
      onScroll={onScroll}
      // Nothing below it moves while an answer comes, or gets its formatting after a reload.
      className={cx(
        'flex flex-col overflow-y-auto rounded-xl bg-subtle p-4',
        turns.length === 0 ? 'min-h-40 lg:min-h-72' : 'h-[28rem]',
      )}
    >
      <div ref={content} className="flex shrink-0 grow flex-col gap-4">
        {turns.length === 0 && (
          <p className="m-auto max-w-sm text-balance text-center text-muted">
            Ask something. The answer comes from{' '}
            <span className="font-mono text-[0.8125rem]">{modelName}</span>.
          </p>
        )}
        {turns.map((turn, index) => (
          // Turns are only ever added at the end.
          <ConversationTurn key={index} turn={turn} waiting={answering && index === turns.length - 1} />
        ))}
      </div>
    </div>
  );
}

type QuestionProps = Pick<Conversation, 'answering' | 'unanswered' | 'ask' | 'stop'> & { isAskable: boolean };

/** Enter sends, Shift and Enter starts a line. */
function Question({ answering, isAskable, unanswered, ask, stop }: QuestionProps) {
  const [draft, setDraft] = useState(unanswered);
  const sendable = draft.trim() !== '' && isAskable;

  async function send(question: string) {
    setDraft('');
    const answered = await ask(question);
    // Nothing typed is lost: an unanswered question goes back into the field.
    if (!answered) setDraft((typed) => typed || question);
  }

  function submit(event: FormEvent) {
    event.preventDefault();
    if (!answering && sendable) void send(draft.trim());
  }

  function onKeyDown(event: KeyboardEvent<HTMLTextAreaElement>) {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    event.currentTarget.form?.requestSubmit();
  }

  return (
    <form onSubmit={submit} className="flex items-end gap-2">
      <Textarea
        aria-label="Message"
        rows={2}
        dir="auto"
        value={draft}
        onChange={(event) => setDraft(event.target.value)}
        onKeyDown={onKeyDown}
        placeholder="Ask a question"
      />
      {answering ? (
        <Button size="icon" aria-label="Stop" onClick={stop}>
          <Square aria-hidden />
        </Button>
      ) : (
        <Button size="icon" variant="primary" type="submit" aria-label="Send" disabled={!sendable}>
          <CornerDownLeft aria-hidden />
        </Button>
      )}
    </form>
  );
}

/** What asking costs, and what it is paid beside. */
function TokenPrices({ device, pricePerHour }: Pick<Props, 'device' | 'pricePerHour'>) {
  const read = useServingPrice('prompt_tokens', device);
  const written = useServingPrice('completion_tokens', device);
  if (!read || !written) return null;
  return (
    <p className="text-muted text-xs">
      <Money bgl={read} /> per million input tokens, <Money bgl={written} /> per million output tokens
      {pricePerHour && (
        <>
          , on top of <Money bgl={pricePerHour} /> for each hour that the model is awake
        </>
      )}
      .
    </p>
  );
}
