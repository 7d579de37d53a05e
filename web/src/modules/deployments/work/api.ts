/** Deployments as work under way, for who lists all of that; they are on no first screen. */
export { imageDeploymentListQuery } from '../images/calls.ts';
export { useDeploymentWork } from '../use-deployment-work.ts';
