export { useHasKontextDeployment, useUsableDeployments } from './calls.ts';
