import type { HubRepositoryDetails, RepoType } from '@bakehouse/contract/hub/public';
import { useQuery } from '@tanstack/react-query';
import { CloudDownload } from 'lucide-react';
import { useState } from 'react';
import { Button, ButtonLink } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { EmptyState } from '../../../ui/empty-state.tsx';
import { QueryView } from '../../../ui/query-view.tsx';
import { Skeleton } from '../../../ui/skeleton.tsx';
import { useUser } from '../../accounts/session.ts';
import { useStartClone } from '../clones/clone-calls.ts';
import { repositoryQuery } from './hub-calls.ts';
import { RepositoryDetails } from './repository-details.tsx';
import { TokenDialog } from './token-dialog.tsx';

type Props = {
  type: RepoType;
  id: string;
  onClose: () => void;
  /** Called once it has started. */
  onCloning: () => void;
};

/** A hub repository, with a button to clone it. */
export function RepositoryDialog({ type, id, onClose, onCloning }: Props) {
  const [savesToken, setSavesToken] = useState(false);
  const repository = useQuery(repositoryQuery(useUser().id, type, id));
  const start = useStartClone(type);
  const begin = (found: HubRepositoryDetails) =>
    start.mutate(
      { repoId: found.repo_id, datasetType: type === 'model' ? 'MODEL' : 'RAW' },
      { onSuccess: onCloning },
    );
  const found = repository.data;
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      size="lg"
      title={id}
      description={type === 'model' ? 'A model on Hugging Face' : 'A dataset on Hugging Face'}
      footer={
        <>
          {found?.cloned_asset_id && (
            <ButtonLink
              className="mr-auto"
              to={type === 'model' ? '/model/$id/description' : '/dataset/$id/description'}
              params={{ id: found.cloned_asset_id }}
            >
              Open your clone
            </ButtonLink>
          )}
          <Button onClick={onClose}>Close</Button>
          <Button
            variant="primary"
            disabled={!found || found.obstacle !== null}
            loading={start.isPending}
            onClick={() => found && begin(found)}
          >
            <CloudDownload aria-hidden />
            {found?.cloned_asset_id ? 'Clone again' : 'Clone'}
          </Button>
        </>
      }
    >
      <QueryView
        query={repository}
        failed="The repository could not be read"
        pending={<Pending />}
        missing={
          <EmptyState
            title="The hub has no such repository"
            description="It may be private, or have another name."
          />
        }
      >
        {(details) => (
          <RepositoryDetails
            details={details}
            tokenAction={
              <Button size="sm" onClick={() => setSavesToken(true)}>
                Access token
              </Button>
            }
          />
        )}
      </QueryView>
      {savesToken && <TokenDialog onClose={() => setSavesToken(false)} />}
    </Dialog>
  );
}

function Pending() {
  return (
    <div className="grid gap-5" aria-busy>
      <Skeleton className="h-10" />
      <Skeleton className="h-16" />
      <Skeleton className="h-11" />
    </div>
  );
}
