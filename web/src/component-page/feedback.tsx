import { Inbox } from 'lucide-react';
import { Badge, TagBadge } from '../ui/badge.tsx';
import { BrokenPart } from '../ui/boundary.tsx';
import { Button } from '../ui/button.tsx';
import { Callout } from '../ui/callout.tsx';
import { Card } from '../ui/card.tsx';
import { EmptyState } from '../ui/empty-state.tsx';
import { ErrorState } from '../ui/error-state.tsx';
import { FormRejection } from '../ui/form-rejection.tsx';
import { ListSkeleton } from '../ui/list-skeleton.tsx';
import { LongWorkItem } from '../ui/long-work-item.tsx';
import { Missing } from '../ui/missing.tsx';
import { notify } from '../ui/notify.ts';
import { Pager } from '../ui/pager.tsx';
import { Progress } from '../ui/progress.tsx';
import { QueryView } from '../ui/query-view.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { StatusBadge } from '../ui/status-badge.tsx';
import { Stepper } from '../ui/stepper.tsx';
import { Specimen } from './specimen.tsx';

const failure = new Error('The server did not answer within 30 seconds.');
const statuses = ['queued', 'waiting', 'starting', 'running', 'completed', 'degraded', 'stopping', 'failed'];
const tones = ['neutral', 'good', 'warn', 'bad', 'info', 'accent'] as const;
const pages = {
  ...{ hasNextPage: true, isFetching: false, isFetchingNextPage: false, isFetchNextPageError: false },
  ...{ error: null, fetchNextPage: () => undefined },
};

export function Feedback() {
  return (
    <>
      <Specimen name="Badge, TagBadge">
        {tones.map((tone) => (
          <Badge key={tone} tone={tone}>
            {tone}
          </Badge>
        ))}
        <TagBadge tag="tag" />
      </Specimen>
      <Specimen name="StatusBadge">
        {statuses.map((status) => (
          <StatusBadge key={status} status={status} />
        ))}
      </Specimen>
      <Specimen name="Callout, FormRejection">
        <Callout title="Info" action={<Button size="sm">Action</Button>}>
          More about it.
        </Callout>
        <Callout tone="warn">A warning without a title.</Callout>
        <FormRejection title="Failed to save" error={failure} />
      </Specimen>
      <Specimen name="Toaster">
        {(['success', 'info', 'warning', 'failure'] as const).map((kind) => (
          <Button
            key={kind}
            size="sm"
            onClick={() => notify[kind](`A toast: ${kind}`, { description: 'More' })}
          >
            {kind}
          </Button>
        ))}
      </Specimen>
      <Specimen name="Progress, Stepper">
        <Progress className="w-60" value={42} label="Training" aside="Step 42 of 100" />
        <Progress className="w-60" value={null} label="Starting" />
        <Stepper steps={['Model', 'Data', 'Review']} current={1} />
      </Specimen>
      <Specimen name="LongWorkItem">
        <ul className="w-80">
          <LongWorkItem work={{ id: 'a', title: 'A run', phase: 'Training', progress: 42, end: null }} />
          <LongWorkItem
            work={{
              ...{ id: 'b', title: 'A run', phase: '', progress: null },
              end: { kind: 'failure', title: 'The run failed', description: 'It ran out of memory.' },
            }}
          />
        </ul>
      </Specimen>
      <Specimen name="Skeleton, ListSkeleton, Pager">
        <Skeleton className="h-16 w-40" />
        <Card className="w-80" title="Loading" flush>
          <ListSkeleton rows={2} rowHeight={44} />
        </Card>
        <Pager pages={pages} />
        <Pager pages={{ ...pages, isFetchNextPageError: true, error: failure }} />
      </Specimen>
      <WholeStates />
    </>
  );
}

/** What a card or page shows instead of its content. */
function WholeStates() {
  const query = {
    ...{ data: undefined, error: failure, isError: true, isFetching: false },
    ...{ errorUpdateCount: 1, dataUpdatedAt: 0, refetch: () => undefined },
  };
  return (
    <Specimen name="EmptyState, ErrorState, QueryView, Boundary, Missing">
      <Card className="w-80">
        <EmptyState
          icon={<Inbox aria-hidden />}
          title="No models yet"
          description="Train one, or upload its files."
          action={<Button variant="primary">Train a model</Button>}
        />
      </Card>
      <Card className="w-80">
        <ErrorState title="Your models could not be loaded" error={failure} onRetry={() => undefined} />
      </Card>
      <Card className="w-80">
        <QueryView query={query} failed="Your runs could not be loaded" pending={null}>
          {() => null}
        </QueryView>
      </Card>
      <Card className="w-80">
        <BrokenPart error={failure} reset={() => undefined} />
      </Card>
      <Card className="w-80">
        <Missing title="Dataset not found" text="It was deleted." to="/dataset" label="My Datasets" />
      </Card>
    </Specimen>
  );
}
