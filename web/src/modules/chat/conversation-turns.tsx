import { Pencil, RefreshCw } from 'lucide-react';
import { type ComponentProps, useEffect, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { cx } from '../../lib/cx.ts';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Tooltip } from '../../ui/tooltip.tsx';
import { useStickToBottom } from '../../ui/use-stick-to-bottom.ts';
import { CallResults } from './call-results.tsx';
import type { Turn } from './chat.ts';
import { ConversationTurn } from './conversation-turn.tsx';
import { QuestionEditor } from './question-editor.tsx';
import type { Wait } from './use-conversation.ts';

type Props = {
  modelName: string;
  turns: Turn[];
  /** Set while an answer is in progress. */
  wait: Wait | undefined;
  /** Actions on the last question; absent if nothing can be asked. */
  again?: {
    isAskable: boolean;
    askAgain: (question?: string) => Promise<boolean>;
    answerCalls: (results: NonNullable<Turn['results']>) => Promise<boolean>;
  };
  /** Set if the conversation fills its container. */
  page?: Beginning | undefined;
};

/** What an empty conversation shows. */
type Beginning = { about: string; suggestions: readonly string[]; onAsk?: (question: string) => void };

/** A question being edited. */
type Edited = { turn: Turn; text: string };

/** The turns. Scrolls to the end unless the user has scrolled up. */
export function ConversationTurns({ modelName, turns, wait, again, page }: Props) {
  const answering = wait !== undefined;
  const { box, content, onScroll, follow } = useStickToBottom();
  // Scroll down after asking.
  useEffect(() => follow(), [follow, turns.length]);
  const [edited, setEdited] = useState<Edited | null>(null);
  const editButton = useRef<HTMLButtonElement>(null);

  async function askAgain(as?: Edited) {
    // The pressed button unmounts, so move focus to the conversation.
    box.current?.focus({ preventScroll: true });
    setEdited(null);
    follow();
    const answered = await again?.askAgain(as?.text);
    // Do not lose the typed text.
    if (!answered && as) setEdited(as);
  }

  function cancel() {
    flushSync(() => setEdited(null));
    editButton.current?.focus();
  }

  const [results, setResults] = useState<Record<string, string>>({});
  const calls = answering ? undefined : turns.at(-1)?.calls;
  const last = again && !answering ? turns.at(-2) : undefined;
  return (
    <div
      ref={box}
      role="log"
      aria-label="Conversation"
      aria-busy={answering}
      tabIndex={0}
      onScroll={onScroll}
      // Fixed height: streaming and Markdown rendering do not move the content below.
      className={cx('flex flex-col overflow-y-auto', page ? 'min-h-0 flex-1' : cardClass(turns))}
    >
      <div
        ref={content}
        className={cx('flex shrink-0 grow flex-col gap-4', page && 'mx-auto w-full max-w-3xl px-4 py-6')}
      >
        {turns.length === 0 && <NothingSaid modelName={modelName} {...page} />}
        {turns.map((turn, index) => {
          // Turns are only ever appended.
          if (again && turn === last && edited?.turn === turn) {
            const send = (text: string) => void askAgain({ turn, text });
            const editor = { text: edited.text, isAskable: again.isAskable, onSend: send, onCancel: cancel };
            return <QuestionEditor key={index} {...editor} />;
          }
          const waiting = index === turns.length - 1 ? wait : undefined;
          return (
            <ConversationTurn key={index} turn={turn} wait={waiting}>
              {turn.role === 'assistant' && turn.content && !waiting && (
                <CopyButton text={turn.content} label="Copy the answer" />
              )}
              {again && last && index === turns.length - 1 && (
                <Regenerate disabled={!again.isAskable} onClick={() => void askAgain()} />
              )}
              {turn === last && !turn.results && (
                <Edit ref={editButton} onClick={() => setEdited({ turn, text: turn.content })} />
              )}
            </ConversationTurn>
          );
        })}
        {again && calls && <CallResults {...{ calls, again, results, onChange: setResults }} />}
      </div>
    </div>
  );
}

const cardClass = (turns: Turn[]) =>
  cx(
    'rounded-xl bg-subtle p-4',
    turns.length === 0 ? 'min-h-40 lg:min-h-72' : 'h-[clamp(14rem,calc(100dvh-32rem),28rem)]',
  );

function NothingSaid({
  modelName,
  about,
  suggestions = [],
  onAsk,
}: Pick<Props, 'modelName'> & Partial<Beginning>) {
  return (
    <div className="m-auto max-w-md text-balance text-center text-muted">
      <p>
        Ask <span className="font-mono text-compact [overflow-wrap:anywhere]">{modelName}</span> something.
      </p>
      {about && <p className="mt-1 text-xs">{about}</p>}
      {onAsk && suggestions.length > 0 && (
        <div className="mt-5 flex flex-wrap justify-center gap-2">
          {suggestions.map((question) => (
            <Button key={question} size="sm" onClick={() => onAsk(question)}>
              {question}
            </Button>
          ))}
        </div>
      )}
    </div>
  );
}

type ActionProps = Pick<ComponentProps<typeof Button>, 'ref' | 'disabled' | 'onClick'>;

function Regenerate(props: ActionProps) {
  const label = 'Regenerate the answer';
  return (
    <Tooltip content={label}>
      <Button variant="ghost" size="icon-sm" aria-label={label} {...props}>
        <RefreshCw aria-hidden />
      </Button>
    </Tooltip>
  );
}

function Edit(props: ActionProps) {
  const label = 'Edit the question';
  return (
    <Tooltip content={label}>
      <Button variant="ghost" size="icon-sm" aria-label={label} {...props}>
        <Pencil aria-hidden />
      </Button>
    </Tooltip>
  );
}
