import { useNavigate } from '@tanstack/react-router';
import { Rocket } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { queryClient } from '../../lib/api/query-client.ts';
import { useUrlSearch } from '../../lib/url-search.ts';
import { Button } from '../../ui/button.tsx';
import { FilterBar } from '../../ui/resource/filter-bar.tsx';
import { ResourcePage } from '../../ui/resource/resource-page.tsx';
import { Segmented } from '../../ui/segmented.tsx';
import { sessionQuery } from '../accounts/session.ts';
import { DeployDialog } from './deploy/deploy-dialog.tsx';
import { deploymentListQuery, deploymentStatsQuery } from './deployment-lists.ts';
import { type Family, families } from './kinds.ts';
import { DeploymentTable, deploymentFilterFields } from './list/deployment-table.tsx';
import { type DeploymentsSearch, isNarrowed } from './list/deployments-search.ts';
import { TextDeployments } from './list/text-deployments.tsx';
import { useDeployments } from './use-deployments.ts';

/** Reads what determines the layout of the list of text deployments. */
export async function readTextDeployments(shown: DeploymentsSearch): Promise<void> {
  const user = await queryClient.ensureQueryData(sessionQuery);
  if (!user) return;
  await Promise.allSettled([
    queryClient.ensureInfiniteQueryData(deploymentListQuery('text', user.id, shown)),
    queryClient.ensureQueryData(deploymentStatsQuery(user.id)),
  ]);
}

export const TextDeploymentsPage = () => (
  <DeploymentsFrame family="text">{(deploy) => <TextDeployments onDeploy={deploy} />}</DeploymentsFrame>
);

export const ImageDeploymentsPage = () => (
  <DeploymentsFrame family="image">{(deploy) => <ImageDeployments onDeploy={deploy} />}</DeploymentsFrame>
);

function ImageDeployments({ onDeploy }: { onDeploy: () => void }) {
  const [shown] = useUrlSearch<DeploymentsSearch>();
  return (
    <>
      <FilterBar filters={deploymentFilterFields} />
      <DeploymentTable
        family="image"
        deployments={useDeployments('image', shown)}
        isNarrowed={isNarrowed(shown)}
        onDeploy={onDeploy}
      />
    </>
  );
}

type FrameProps = { family: Family; children: (deploy: () => void) => ReactNode };

/** Common parts of both families' pages: title, link to the other family, and deploy dialog. */
function DeploymentsFrame({ family, children }: FrameProps) {
  const [{ deploy: chosen }, change] = useUrlSearch<DeploymentsSearch>();
  const navigate = useNavigate();
  const words = families[family];
  const [choosing, setChoosing] = useState(false);
  const open = () => setChoosing(true);
  const close = () => {
    setChoosing(false);
    if (chosen !== undefined) change({ deploy: undefined });
  };
  return (
    <ResourcePage
      title="Deploy Models"
      description={words.about}
      actions={
        <Button variant="primary" onClick={open}>
          <Rocket aria-hidden />
          {words.deploy}
        </Button>
      }
    >
      <Segmented
        label="Which deployments"
        value={family}
        onChange={(next) => void navigate({ to: families[next].list })}
        options={(['text', 'image'] as const).map((value) => ({ value, label: families[value].label }))}
        className="mb-5"
      />
      {children(open)}
      {(choosing || chosen !== undefined) && (
        <DeployDialog key={chosen} family={family} chosen={chosen ?? null} onClose={close} />
      )}
    </ResourcePage>
  );
}
