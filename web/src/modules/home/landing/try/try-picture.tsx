import { paris } from '@bakehouse/contract/generators/paris';
import {
  VISITOR_PROMPT_LENGTH_MAX,
  type VisitorPicture,
  type VisitorTryState,
} from '@bakehouse/contract/visitors';
import { Progress } from '../../../../ui/progress.tsx';
import { useVisitorPicture } from './tries.ts';
import { SignUpLink, TryCard } from './try-card.tsx';

const EXAMPLES_MAX = 2;
const EXAMPLE = 'a rocket in the sky';

/** A picture by the Paris starter, shown while it is generated. */
export function TryPicture({ state }: { state: VisitorTryState | undefined }) {
  const { generate, picture, isBusy, error } = useVisitorPicture();
  return (
    <TryCard
      title="Generate a picture"
      state={state}
      examples={paris.examples?.slice(0, EXAMPLES_MAX) ?? []}
      label="Prompt"
      placeholder="a red apple on a table"
      maxLength={VISITOR_PROMPT_LENGTH_MAX}
      submit="Generate"
      isBusy={isBusy}
      error={error}
      emptyProblem="Describe a picture first"
      keepsText
      note={
        picture?.url ? <SignUpLink>Sign up to keep it</SignUpLink> : `Starter model, ${paris.starter?.limits}`
      }
      onSubmit={generate}
    >
      {picture ? <Shown picture={picture} /> : <Example />}
    </TryCard>
  );
}

/** A picture that the starter generated. */
function Example() {
  return (
    <figure className="flex h-full flex-col">
      <img src="/pictures/try.webp" alt={EXAMPLE} className="min-h-0 w-full flex-1 object-contain" />
      <figcaption className="p-2 text-center text-muted">Example: {EXAMPLE}</figcaption>
    </figure>
  );
}

function Shown({
  picture: { url, preview, prompt, state, reason, step, steps },
}: {
  picture: VisitorPicture;
}) {
  const source = url ?? preview;
  const isUnderWay = url === null && state !== 'failed' && state !== 'cancelled';
  return (
    <div className="flex h-full flex-col">
      {source ? (
        <img src={source} alt={prompt} className="min-h-0 w-full flex-1 object-contain" />
      ) : (
        <p className="flex flex-1 items-center justify-center p-6 text-center text-muted">{reason}</p>
      )}
      {isUnderWay && (
        <Progress
          value={steps > 0 ? (100 * step) / steps : null}
          label="Generating"
          aside={step > 0 ? `Step ${step} of ${steps}` : ''}
          className="px-3 py-2"
        />
      )}
    </div>
  );
}
