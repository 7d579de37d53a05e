import { VISITOR_QUESTION_LENGTH_MAX, type VisitorTryState } from '@bakehouse/contract/visitors';
import { cx } from '../../../../lib/cx.ts';
import { useStickToBottom } from '../../../../ui/use-stick-to-bottom.ts';
import { useVisitorChat } from './tries.ts';
import { SignUpLink, TryCard } from './try-card.tsx';

/** A question, and the answer that the starter gave. */
const EXAMPLE = [
  { role: 'user', content: 'What is bread made of?' },
  {
    role: 'assistant',
    content:
      'Bread is made from flour, water, yeast, and other ingredients, typically in a bread-making process. It’s a staple in many cultures around the world, and it’s often used in various culinary traditions.',
  },
];

/** A conversation with the starter language model. */
export function TryChat({ state, model }: { state: VisitorTryState | undefined; model: string | undefined }) {
  const { said, ask, isAnswering, error } = useVisitorChat(model);
  const { box, content: end, onScroll } = useStickToBottom();
  return (
    <TryCard
      title="Ask a question"
      state={state}
      examples={['What is bread made of?', 'What is the capital of France?']}
      label="Question"
      placeholder="Ask anything"
      maxLength={VISITOR_QUESTION_LENGTH_MAX}
      submit="Ask"
      isBusy={isAnswering}
      error={error}
      emptyProblem="Ask a question first"
      note={
        said.length > 0 ? (
          <SignUpLink>Sign up to continue this conversation</SignUpLink>
        ) : (
          `Starter model ${model ?? ''}. Nothing is sent elsewhere.`
        )
      }
      onSubmit={ask}
    >
      <div
        ref={box}
        onScroll={onScroll}
        role="log"
        aria-label="Conversation"
        tabIndex={0}
        className="h-full overflow-y-auto p-3"
      >
        <div ref={said.length > 0 ? end : null}>
          {said.length === 0 && <p className="mb-2 text-center text-muted">Example</p>}
          <ol className="grid gap-2">
            {(said.length > 0 ? said : EXAMPLE).map(({ role, content }, at) => (
              <li
                key={at}
                className={cx(
                  'w-fit max-w-[90%] whitespace-pre-wrap rounded-lg px-3 py-2 [overflow-wrap:anywhere]',
                  role === 'user' ? 'ml-auto bg-accent-soft text-accent-text' : 'bg-surface shadow-card',
                )}
              >
                {content || '…'}
              </li>
            ))}
          </ol>
        </div>
      </div>
    </TryCard>
  );
}
