import { getMachine } from '@bakehouse/contract/machine';
import { bind } from '../../platform/http/bind.ts';
import { readMachine } from './read-machine.ts';

export const machineRoutes = [bind(getMachine, readMachine)];
