import { getMachine, listMachines } from '@bakehouse/contract/machines';
import { bind } from '../../platform/http/bind.ts';
import { readMachine, readMachines } from './read-machines.ts';

export const machineRoutes = [bind(getMachine, readMachine), bind(listMachines, readMachines)];
