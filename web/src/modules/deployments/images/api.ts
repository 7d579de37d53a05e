export { useHasKontextDeployment } from './calls.ts';
