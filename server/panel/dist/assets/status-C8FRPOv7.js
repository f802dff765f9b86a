<<<<<<<< HEAD:server/panel/dist/assets/status-DO4VwJZU.js
import{a as e,j as t}from"./field-wlnAgj2D.js";import{_ as n}from"./vendor-Du7MmxHV.js";var r={running:`brand`,waiting:`warn`,completed:`ok`,failed:`bad`,cancelled:`none`};function i({run:i}){return n(e,{tone:r[i.status],children:[t(`run.${i.status}`),i.waitingFor&&`: ${t(`wait.${i.waitingFor}`)}`]})}export{r as n,i as t};
========
import{a as e,j as t}from"./field-CDpO52xf.js";import{_ as n}from"./vendor-Du7MmxHV.js";var r={running:`brand`,waiting:`warn`,completed:`ok`,failed:`bad`,cancelled:`none`};function i({run:i}){return n(e,{tone:r[i.status],children:[t(`run.${i.status}`),i.waitingFor&&`: ${t(`wait.${i.waitingFor}`)}`]})}export{r as n,i as t};
>>>>>>>> b2397154 (panel: search the messages of all conversations):server/panel/dist/assets/status-C8FRPOv7.js
