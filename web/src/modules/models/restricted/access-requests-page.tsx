import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { Inbox, Plus } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import { EmptyState } from '../../../ui/empty-state.tsx';
import { OperatorOnly } from '../../../ui/operator-only.tsx';
import { PageHeader } from '../../../ui/page-header.tsx';
import { PagedList } from '../../../ui/paged-list.tsx';
import { Segmented } from '../../../ui/segmented.tsx';
import { useUser } from '../../accounts/session.ts';
import { RequestList } from './request-list.tsx';
import { accessRequestsQuery } from './restricted-model-calls.ts';
import { RestrictedModelDialog } from './restricted-model-dialog.tsx';
import { RestrictedModelsCard } from './restricted-models-card.tsx';

const route = getRouteApi('/app/operator/access-requests');

/** Operator page: access requests for restricted models, and the models. */
export function AccessRequestsPage() {
  const { is_operator } = useUser();
  return (
    <OperatorOnly isOperator={is_operator} title="Access requests" what="the access requests">
      <AccessRequests />
    </OperatorOnly>
  );
}

function AccessRequests() {
  const [adding, setAdding] = useState(false);
  return (
    <>
      <PageHeader
        title="Access requests"
        description="Restricted models, and requests for access to them."
        actions={
          <Button variant="primary" onClick={() => setAdding(true)}>
            <Plus aria-hidden />
            Add a model
          </Button>
        }
      />
      <div className="grid grid-cols-1 gap-6">
        <Requests />
        <RestrictedModelsCard />
      </div>
      {adding && <RestrictedModelDialog onClose={() => setAdding(false)} />}
    </>
  );
}

function Requests() {
  const { state } = route.useSearch();
  const navigate = route.useNavigate();
  const requests = useInfiniteQuery(accessRequestsQuery(state === 'all' ? undefined : 'requested'));
  return (
    <Card
      title="Requests"
      flush
      actions={
        <Segmented
          label="Requests shown"
          value={state ?? 'waiting'}
          options={[
            { value: 'waiting', label: 'Waiting' },
            { value: 'all', label: 'All' },
          ]}
          onChange={(next) =>
            void navigate({ search: next === 'all' ? { state: 'all' } : {}, replace: true })
          }
        />
      }
    >
      <PagedList
        query={requests}
        rows={(page) => page.requests}
        rowHeight={72}
        skeletonRows={2}
        failed="The requests could not be loaded"
        empty={
          <EmptyState
            icon={<Inbox aria-hidden />}
            title={state === 'all' ? 'No requests yet' : 'No requests are waiting'}
            description="Requests for access to restricted models appear here for you to decide."
          />
        }
      >
        {(all) => <RequestList requests={all} />}
      </PagedList>
    </Card>
  );
}
