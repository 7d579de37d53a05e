import type { ReactNode } from 'react';
import { ButtonLink } from '../../../../ui/button.tsx';
import { Callout } from '../../../../ui/callout.tsx';
import type { Wizard } from '../wizard-state.ts';

type Props = {
  wizard: Pick<Wizard, 'validation' | 'unaffordable' | 'mayHaveBegun'>;
  /** Action if the data can't be used for training. */
  wayOut?: ReactNode;
};

/** Shows what prevents the start, and warns if the run may already have started. */
export function StartNotices({ wizard: { validation, unaffordable, mayHaveBegun }, wayOut }: Props) {
  const [critical] = validation?.critical_errors ?? [];
  return (
    <>
      {mayHaveBegun && <MayHaveBegun as={mayHaveBegun} />}
      {unaffordable && <TooLittleCredit reason={unaffordable} />}
      {critical && (
        <Callout tone="bad" title="This run cannot start" action={wayOut}>
          {critical}
        </Callout>
      )}
    </>
  );
}

/** Worded like the notice for a credit transfer whose response was lost. */
function MayHaveBegun({ as }: { as: NonNullable<Wizard['mayHaveBegun']> }) {
  return (
    <div role="alert">
      <Callout
        tone="warn"
        title="Training may already have started"
        action={
          <ButtonLink size="sm" to="/llm-training">
            See your runs
          </ButtonLink>
        }
      >
        {as === 'as chosen'
          ? 'If it did start, trying again won’t start it a second time.'
          : 'If it did start, starting again creates a second run.'}
      </Callout>
    </div>
  );
}

function TooLittleCredit({ reason }: { reason: string }) {
  return (
    <Callout
      tone="bad"
      title={reason}
      action={
        <ButtonLink size="sm" to="/buy-bagels">
          Purchase Fine-tune Credits
        </ButtonLink>
      }
    >
      Nothing has started. Your choices stay here until you close this panel.
    </Callout>
  );
}
