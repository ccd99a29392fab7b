# The main job: docs/examples.
set(examples_directory ${PROJECT_SOURCE_DIR}/docs/examples)
troupe_test(unit docs/examples character_model
  SOURCES ${examples_directory}/character_model_test.cpp
  DEPS examples_trainer)
troupe_test(unit docs/examples sharded_trainer
  SOURCES ${examples_directory}/sharded_trainer_test.cpp ${examples_directory}/in_process_world.cpp
  DEPS examples_trainer)
