/** Deployments as work under way, for who lists all of that; they are on no first screen. */
export { useDeploymentWork } from '../use-deployment-work.ts';
export { imageWorkQuery, textWorkQuery } from './work-queries.ts';
