import { useInfiniteQuery } from '@tanstack/react-query';
import { Inbox, Plus } from 'lucide-react';
import { useState } from 'react';
import { useUrlSearch } from '../../lib/url-search.ts';
import { Button } from '../../ui/button.tsx';
import { FilterField } from '../../ui/resource/filter-bar.tsx';
import { ResourceList } from '../../ui/resource/resource-list.tsx';
import { ResourcePage } from '../../ui/resource/resource-page.tsx';
import { RequestItem } from '../models/restricted/request-item.tsx';
import { accessRequestsQuery } from '../models/restricted/restricted-model-calls.ts';
import { RestrictedModelDialog } from '../models/restricted/restricted-model-dialog.tsx';
import { RestrictedModelsCard } from '../models/restricted/restricted-models-card.tsx';
import { operatorPage } from './operator-page.tsx';

const filter = {
  name: 'state',
  label: 'Requests shown',
  segmented: true,
  options: [
    { value: 'waiting', label: 'Waiting' },
    { value: 'all', label: 'All' },
  ],
};

/** Operator page: access requests for restricted models, and the models. */
export const AccessRequestsPage = operatorPage('Access requests', 'the access requests', AccessRequests);

function AccessRequests() {
  const [adding, setAdding] = useState(false);
  return (
    <ResourcePage
      title="Access requests"
      description="Restricted models, and requests for access to them."
      actions={
        <Button variant="primary" onClick={() => setAdding(true)}>
          <Plus aria-hidden />
          Add a model
        </Button>
      }
    >
      <div className="grid grid-cols-1 gap-6">
        <Requests />
        <RestrictedModelsCard />
      </div>
      {adding && <RestrictedModelDialog onClose={() => setAdding(false)} />}
    </ResourcePage>
  );
}

function Requests() {
  const [{ state }] = useUrlSearch<{ state?: 'all' }>();
  return (
    <ResourceList
      title="Requests"
      actions={<FilterField {...filter} />}
      query={useInfiniteQuery(accessRequestsQuery(state === 'all' ? undefined : 'requested'))}
      rows={(page) => page.requests}
      rowKey={(request) => request.request_id}
      rowHeight={72}
      skeletonRows={2}
      failed="The requests could not be loaded"
      empty={{
        icon: <Inbox aria-hidden />,
        title: state === 'all' ? 'No requests yet' : 'No requests are waiting',
        description: 'Requests for access to restricted models appear here for you to decide.',
      }}
      item={(request) => <RequestItem request={request} />}
    />
  );
}
