import type { AssetSummary, DatasetType } from '@bakehouse/contract/assets';
import { formatBytes } from '@bakehouse/contract/labels';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { countOf } from '../../../lib/format/count-of.ts';
import { useDebounced } from '../../../lib/use-debounced.ts';
import { Button } from '../../../ui/button.tsx';
import { Callout } from '../../../ui/callout.tsx';
import { Combobox } from '../../../ui/combobox.tsx';
import { Field } from '../../../ui/field.tsx';
import { errorMessage } from '../../../ui/notify.ts';
import { useUser } from '../../accounts/session.ts';
import { assetQuery } from '../asset-queries.ts';
import { choiceQuery, useAllAssets } from './choices.ts';

type Props = {
  types: DatasetType;
  label: string;
  value: string | null;
  onChange: (id: string | null) => void;
  /** Returns true if the asset can be selected. */
  fits?: (asset: AssetSummary) => boolean;
  error?: string | undefined;
  help?: ReactNode;
  /** Rendered to the right of the label. */
  aside?: ReactNode;
  /** Title of the error that replaces the field if nothing could be read. */
  failed: string;
};

const words = {
  RAW: { placeholder: 'Choose a dataset', empty: 'No datasets found' },
  MODEL: { placeholder: 'Choose a model', empty: 'No models found' },
};

/** Chooses a dataset or model that the user may use; searches on the server if there are too many to load. */
export function AssetField({ types, label, value, onChange, fits = () => true, failed, ...rest }: Props) {
  const user = useUser();
  const all = useAllAssets(user.id, types);
  const [typed, setTyped] = useState('');
  const search = useDebounced(typed.trim());
  const searching = !all.complete && search !== '';
  const found = useInfiniteQuery({
    ...choiceQuery(user.id, types, search),
    enabled: searching,
  });
  const chosen = useQuery({ ...assetQuery(value ?? ''), enabled: value !== null });
  if (all.error) {
    return (
      <Callout
        tone="bad"
        title={failed}
        action={
          <Button size="sm" onClick={all.retry}>
            Retry
          </Button>
        }
      >
        {all.error.message}
      </Callout>
    );
  }
  const searchFailed = searching && found.isError;
  const cut = searching ? found.hasNextPage : !all.complete && !all.loading;
  const matches = found.data?.pages.flatMap((page) => page.datasets);
  return (
    <Field label={label} {...rest}>
      <Combobox
        value={value}
        onChange={(id) => {
          setTyped('');
          onChange(id);
        }}
        onType={setTyped}
        found={searching && matches !== undefined}
        failed={searchFailed ? `The search failed: ${errorMessage(found.error)}` : undefined}
        loading={all.loading || (searching && found.isPending)}
        placeholder={words[types].placeholder}
        emptyText={words[types].empty}
        note={
          cut
            ? `There are more results. ${searching ? 'Keep typing to narrow them down' : 'Type to search all of them'}.`
            : undefined
        }
        options={optionsOf((searching && matches) || all.assets, {
          chosen: chosen.data,
          fits,
          userId: user.id,
        })}
      />
    </Field>
  );
}

/** Returns the options, including the selected asset even if a truncated list omits it. */
function optionsOf(
  assets: readonly AssetSummary[],
  {
    chosen,
    fits,
    userId,
  }: Pick<Required<Props>, 'fits'> & { chosen: AssetSummary | undefined; userId: string },
) {
  const fitting = assets.filter(fits);
  const missing = chosen && !fitting.some((asset) => asset.dataset_id === chosen.dataset_id);
  return (missing ? [chosen, ...fitting] : fitting).map((asset) => ({
    value: asset.dataset_id,
    label: asset.title,
    description: asset.is_starter
      ? `Starter ${asset.dataset_type === 'RAW' ? 'dataset' : 'model'}`
      : [
          ...(asset.user_id === userId ? [] : [`By ${asset.owner_username}`]),
          countOf(asset.file_count, 'file'),
          formatBytes(asset.size_bytes),
        ].join(', '),
  }));
}
