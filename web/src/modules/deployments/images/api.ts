export { useActiveKontextDeployment, useUsableDeployments } from './calls.ts';
