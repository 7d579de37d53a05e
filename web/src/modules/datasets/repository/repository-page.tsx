import { checkRepositoryAccess } from '@bakehouse/contract/hub/repositories';
import { useQuery } from '@tanstack/react-query';
import { Navigate } from '@tanstack/react-router';
import { endpointQuery } from '../../../lib/api/endpoint-query.ts';
import { QueryView } from '../../../ui/query-view.tsx';
import { AssetPageSkeleton, MissingAsset } from '../asset-states.tsx';
import { parseRepositoryPath, type RepositoryLocation } from './repository-location.ts';

type Type = 'datasets' | 'models';

/** Redirects a repository's URL to its page. */
export function RepositoryPage({ type, path }: { type: Type; path: string }) {
  const place = parseRepositoryPath(type, path);
  return place ? (
    <Found type={type} place={place} />
  ) : (
    <MissingAsset kind={type === 'models' ? 'model' : 'dataset'} />
  );
}

const idQuery = (type: Type, { namespace, name }: RepositoryLocation) =>
  endpointQuery(['asset', 'repository', { type, namespace, name }], checkRepositoryAccess, {
    params: { type, namespace, name },
  });

function Found({ type, place }: { type: Type; place: RepositoryLocation }) {
  const kind = type === 'models' ? 'model' : 'dataset';
  return (
    <QueryView
      query={useQuery(idQuery(type, place))}
      failed={`This ${kind} cannot be shown`}
      pending={<AssetPageSkeleton />}
      missing={<MissingAsset kind={kind} />}
    >
      {({ _id: id }) => (
        <Navigate to={`/${kind}/$id/description`} params={{ id }} search={place.search} replace />
      )}
    </QueryView>
  );
}
