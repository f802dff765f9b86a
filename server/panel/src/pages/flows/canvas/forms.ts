// What asks for values is read when it is first needed.
export { Inspector } from './inspector'
export { Settings } from './settings'
