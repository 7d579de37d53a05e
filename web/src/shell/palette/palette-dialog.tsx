import { DeployDialog } from '../../modules/deployments/deploy/deploy-dialog.tsx';
import type { Deployment, Family } from '../../modules/deployments/kinds.ts';
import { TerminateDialog } from '../../modules/deployments/terminate-dialog.tsx';

/** What a command asks before it is done. */
export type Question =
  | { kind: 'deploy'; family: Family; modelId: string | null }
  | { kind: 'terminate'; deployment: Deployment };

/** Stands in the palette's place once a command that costs or ends something was chosen. */
export function PaletteDialog({ question, onClose }: { question: Question; onClose: () => void }) {
  switch (question.kind) {
    case 'deploy':
      return <DeployDialog family={question.family} chosen={question.modelId} onClose={onClose} />;
    case 'terminate':
      return <TerminateDialog deployment={question.deployment} onClose={onClose} />;
  }
}
