export { DeployButton } from './deploy/deploy-button.tsx';
export {
  deploymentListQuery,
  deploymentWorkQuery,
  newestDeploymentsQuery,
  useNewestDeployments,
} from './deployment-lists.ts';
export { useActiveKontextDeployment, useUsableDeployments } from './own-image-models.ts';
export { useDeploymentWork } from './use-deployment-work.ts';
export { useDeploymentsOf, useLiveDeployment } from './use-deployments.ts';
