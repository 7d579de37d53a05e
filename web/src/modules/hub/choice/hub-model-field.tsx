import type { HubRepositoryDetails } from '@bakehouse/contract/hub/public';
import { formatBytes } from '@bakehouse/contract/labels';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { countOf } from '../../../lib/format/count-of.ts';
import { useOwnWork } from '../../../lib/live/own-work.ts';
import { useDebounced } from '../../../lib/use-debounced.ts';
import { Callout } from '../../../ui/callout.tsx';
import { Combobox } from '../../../ui/combobox.tsx';
import { Field } from '../../../ui/field.tsx';
import { errorMessage } from '../../../ui/notify.ts';
import { QueryView } from '../../../ui/query-view.tsx';
import { Skeleton } from '../../../ui/skeleton.tsx';
import { useUser } from '../../accounts/session.ts';
import { isUnderWay } from '../clones/clone-sentences.ts';
import { repositoryQuery, useQuickSearch } from '../repository/hub-calls.ts';
import { CloneInProgress } from './clone-in-progress.tsx';

type Props = {
  /** Name on the hub; empty if none is selected. */
  value: string;
  error: string | undefined;
  onChange: (repoId: string) => void;
};

/** Chooses a model of the public hub, and shows if it is cloned. */
export function HubModelField({ value, error, onChange }: Props) {
  const [typed, setTyped] = useState('');
  const query = useDebounced(typed.trim());
  const found = useQuickSearch(query);
  const results = (query === '' ? [] : (found.data?.results ?? [])).map(({ repo_id, gated, task }) => ({
    value: repo_id,
    label: repo_id,
    description: [task, gated && 'gated'].filter(Boolean).join(', '),
  }));
  const isMissing = value !== '' && !results.some((one) => one.value === value);
  return (
    <>
      <Field label="Hub model" error={error} help="Type to search Hugging Face.">
        <Combobox
          value={value === '' ? null : value}
          onChange={(id) => {
            setTyped('');
            onChange(id ?? '');
          }}
          onType={setTyped}
          found
          loading={query !== '' && found.isPending}
          failed={found.isError ? errorMessage(found.error) : undefined}
          placeholder="owner/name"
          emptyText={query === '' ? 'Type to search Hugging Face' : 'No models found'}
          options={isMissing ? [{ value, label: value }, ...results] : results}
        />
      </Field>
      {value !== '' && <HubModel key={value} id={value} />}
    </>
  );
}

/** Shows if the model is cloned, being cloned, or not. */
function HubModel({ id }: { id: string }) {
  const userId = useUser().id;
  const repository = useQuery(repositoryQuery(userId, 'model', id));
  const recent = useOwnWork('clones') ?? [];
  const own = recent.filter((clone) => clone.repo_id === id && clone.dataset_type === 'MODEL');
  const underWay = own.find(isUnderWay);
  const made = own.find(({ asset_id }) => asset_id !== null)?.asset_id ?? repository.data?.cloned_asset_id;
  if (underWay) return <CloneInProgress clone={underWay} />;
  return (
    <QueryView
      query={repository}
      failed="The model could not be read"
      pending={<Skeleton className="h-16" />}
      compact
    >
      {(details) => (made ? <Cloned details={details} /> : <NotCloned details={details} />)}
    </QueryView>
  );
}

function Cloned({ details }: { details: HubRepositoryDetails }) {
  return (
    <Callout title="You have a clone of this model">The fine-tune will use it. {trainText(details)}</Callout>
  );
}

function NotCloned({ details }: { details: HubRepositoryDetails }) {
  const { file_count, obstacle, size_bytes, licence } = details;
  return (
    <Callout
      tone={obstacle ? 'bad' : 'info'}
      title={obstacle ? 'This model cannot be cloned' : 'This model will be cloned first'}
    >
      {obstacle ? `${obstacle}. ` : ''}
      {countOf(file_count, 'file')}, {formatBytes(size_bytes)}, license {licence ?? 'not stated'}.{' '}
      {trainText(details)}
    </Callout>
  );
}

function trainText({ train }: HubRepositoryDetails): string {
  if (!train) return '';
  return train.device ? `It can be trained on ${train.device}.` : `${train.obstacle}.`;
}
