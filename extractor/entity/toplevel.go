package entity

// topLevel lists top-level domains: those of all countries, and the common ones of
// the others (IANA root zone).
const topLevel = " com net org edu gov mil int info biz name pro aero coop museum mobi jobs travel tel cat asia post arpa" +
	" app dev io ai page blog shop store online site website web tech cloud digital email live life world today news media" +
	" design agency studio academy school university college education training church health care clinic dental hospital" +
	" bank finance money cash credit loan insurance tax legal law lawyer attorney consulting solutions services support" +
	" systems software technology network company group team global international business ventures capital partners" +
	" house homes estate properties rent apartments hotel restaurant cafe bar pub pizza food kitchen recipes coffee wine beer" +
	" club social chat community foundation charity ngo ong games game play fun show video film movie music radio audio photo" +
	" photos photography pictures gallery art arts graphics ink link click download host hosting domains space zone center" +
	" city town land farm garden green eco energy solar bike car cars auto taxi tours cruises flights vacations holiday" +
	" fashion clothing shoes jewelry beauty hair salon spa fit fitness yoga run football soccer golf tennis ski baby kids" +
	" family dating love wedding gift gifts toys guru expert reviews review report wiki guide directory plus one top best vip" +
	" win bid sale discount deals market markets marketing trade trading exchange press pub ltd inc llc gmbh xyz icu buzz" +
	" moe aws google goog youtube apple microsoft amazon london paris berlin tokyo nyc miami rio madrid barcelona lat swiss" +
	" ac ad ae af ag ai al am ao aq ar as at au aw ax az ba bb bd be bf bg bh bi bj bm bn bo br bs bt bw by bz ca cc cd cf cg" +
	" ch ci ck cl cm cn co cr cu cv cw cx cy cz de dj dk dm do dz ec ee eg er es et eu fi fj fk fm fo fr ga gd ge gf gg gh gi" +
	" gl gm gn gp gq gr gs gt gu gw gy hk hm hn hr ht hu id ie il im in io iq ir is it je jm jo jp ke kg kh ki km kn kp kr kw" +
	" ky kz la lb lc li lk lr ls lt lu lv ly ma mc md me mg mh mk ml mm mn mo mp mq mr ms mt mu mv mw mx my mz na nc ne nf ng" +
	" ni nl no np nr nu nz om pa pe pf pg ph pk pl pm pn pr ps pt pw py qa re ro rs ru rw sa sb sc sd se sg sh si sk sl sm sn" +
	" so sr ss st su sv sx sy sz tc td tf tg th tj tk tl tm tn to tr tt tv tw tz ua ug uk us uy uz va vc ve vg vi vn vu wf ws" +
	" ye yt za zm zw "
