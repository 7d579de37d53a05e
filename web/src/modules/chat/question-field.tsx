import { CornerDownLeft, Square } from 'lucide-react';
import { type FormEvent, type KeyboardEvent, useEffect, useEffectEvent, useSyncExternalStore } from 'react';
import { createPortal } from 'react-dom';
import { Button } from '../../ui/button.tsx';
import { Textarea } from '../../ui/textarea.tsx';
import type { Follower, SharedQuestion, Together } from './shared-question.ts';
import type { useConversation } from './use-conversation.ts';
import { type ConversationKey, useQuestionDraft } from './use-question-draft.ts';

type Props = Pick<ReturnType<typeof useConversation>, 'unanswered' | 'ask' | 'stop'> & {
  answering: boolean;
  keptAs: ConversationKey;
  isAskable: boolean;
  together: Together | undefined;
  autoFocus: boolean;
  /** Called on an attempt to send while the settings are invalid. */
  onHeldUp: () => void;
};

/** The question field of a conversation. Of two compared conversations, only the first renders a field. */
export function Question({ together, ...props }: Props) {
  if (!together) return <QuestionField {...props} />;
  const { conversations, field } = together;
  if (field === undefined) return <Following conversations={conversations} {...props} />;
  return field && createPortal(<SharedField conversations={conversations} {...props} />, field);
}

type Own = Omit<Props, 'together'>;

/** Sends the questions typed in the shared field. Does not put an unanswered question back into the field. */
function Following({ conversations, answering, isAskable, ...on }: Own & { conversations: SharedQuestion }) {
  const ask = useEffectEvent((question: string) => void on.ask(question));
  const stop = useEffectEvent(() => on.stop());
  const heldUp = useEffectEvent(() => on.onHeldUp());
  useEffect(
    () =>
      conversations.follow({
        answering,
        isAskable,
        ask: (question) => ask(question),
        stop: () => stop(),
        onHeldUp: () => heldUp(),
      }),
    [conversations, answering, isAskable],
  );
  return null;
}

function SharedField({ conversations, ...own }: Own & { conversations: SharedQuestion }) {
  const follower = useSyncExternalStore(conversations.subscribe, conversations.follower);
  return <QuestionField {...own} follower={follower} />;
}

/** Enter sends; Shift+Enter inserts a line break. */
function QuestionField({
  keptAs,
  follower,
  unanswered,
  ask,
  autoFocus,
  ...own
}: Own & { follower?: Follower | undefined }) {
  const [typed, setDraft] = useQuestionDraft(keptAs, unanswered);
  const draft = typed ?? '';
  const isEmpty = draft.trim() === '';
  const answering = own.answering || follower?.answering === true;

  async function send(question: string) {
    if (await ask(question)) return;
    // An unanswered question returns to the field.
    setDraft((newer) => (newer?.trim() ? `${question}\n\n${newer}` : question));
  }

  function submit(event: FormEvent) {
    event.preventDefault();
    if (answering || isEmpty) return;
    if (!own.isAskable) return own.onHeldUp();
    if (follower?.isAskable === false) return follower.onHeldUp();
    setDraft(null);
    void send(draft.trim());
    follower?.ask(draft.trim());
  }

  function stop() {
    own.stop();
    follower?.stop();
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
        autoFocus={autoFocus}
        value={draft}
        onChange={(event) => setDraft(event.target.value)}
        onKeyDown={onKeyDown}
        placeholder={follower ? 'Ask both models' : 'Ask a question'}
      />
      {answering ? (
        <Button size="icon" aria-label="Stop" onClick={stop}>
          <Square aria-hidden />
        </Button>
      ) : (
        <Button size="icon" variant="primary" type="submit" aria-label="Send" disabled={isEmpty}>
          <CornerDownLeft aria-hidden />
        </Button>
      )}
    </form>
  );
}
